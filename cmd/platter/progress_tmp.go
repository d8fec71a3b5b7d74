package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results/store"
)

type tmpProgress struct{ c *cli.Context }

func newProgress(c *cli.Context, p lab.Plan) tmpProgress { return tmpProgress{c} }
func (t tmpProgress) start(r *store.Run)                 { fmt.Fprintln(t.c.App.ErrWriter, r.Path()) }
func (t tmpProgress) end(r *store.Run, s store.Status, reason string) {
	fmt.Fprintln(t.c.App.ErrWriter, s, reason)
}
func (t tmpProgress) event(e lab.RunEvent) {
	b, _ := json.Marshal(e)
	fmt.Fprintln(t.c.App.ErrWriter, string(b))
}
func causeText(c *cli.Context) string { return context.Cause(c.Context).Error() }
func printReport(c *cli.Context, path string) error { return nil }
