package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/runner"
	"platter/results"
	"platter/results/store"
)

// resumeRun goes on with a run that did not come to its end: the same plan in the same order, without the trials that
// are settled. Nothing of the folder changes before everything was checked.
func resumeRun(c *cli.Context) error {
	if c.NArg() > 0 || c.IsSet("set") {
		return &usageError{errors.New("run: --resume takes study and plan from the run; leave out STUDY and --set")}
	}
	runs, err := findRuns(c.String("results"), []string{c.String("resume")})
	if err != nil {
		return err
	}
	run := runs[0]
	if state := run.Meta().State(); state == store.Running || state == store.Elsewhere {
		return &lab.InputError{Err: &store.BusyError{Path: run.Path(), PID: run.Meta().PID}}
	}
	plan, err := planOf(run)
	if err != nil {
		return err
	}
	settled := runner.Settled(plan, run)
	if settled.Total() == len(plan.Trials) {
		return allSettled(c, run, settled)
	}
	if err := removeLeftovers(c, run.ID()); err != nil { // first, for a machine of the dead run may still hold a real disk
		return err
	}
	b, err := setUp(c, plan)
	if err != nil {
		return err
	}
	defer b.host.Close()
	changes, err := hostChanges(run, runner.HostFacts(b.info))
	if err != nil {
		return err
	}
	if run, err = reopen(run); err != nil {
		return err
	}
	show := newProgress(c, plan, settled.Total())
	show.start(run)
	show.note("info", fmt.Sprintf("resumed: %d of %s are settled and stay as they are", settled.Total(), count(len(plan.Trials), "trial")))
	for _, change := range changes {
		show.note("warn", "since the run began "+change)
		err = errors.Join(err, run.Log(store.JournalEntry{Event: "host_changed", Reason: change}))
	}
	if err != nil {
		return errors.Join(&lab.InfraError{What: "write the journal", Err: err}, run.Close(store.Failed, err.Error()))
	}
	return carryOut(c, plan, run, b, show)
}

// planOf reads a run's plan and makes sure that it is whole, and that this platter reads in it all there is.
func planOf(run *store.Run) (lab.Plan, error) {
	data, err := run.Plan()
	if err != nil {
		return lab.Plan{}, err
	}
	var p lab.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return p, &store.Problem{Path: store.PlanFile, Kind: store.Broken, Err: err}
	}
	bare := p
	bare.Digest = ""
	digest, err := results.Digest(bare)
	if err != nil {
		return p, fmt.Errorf("digest of the plan: %w", err)
	}
	if digest != p.Digest {
		return p, fmt.Errorf("%w: plan.json has not the digest it names: it was changed, or made by another version of platter; this is %s", errIntegrity, lab.Version())
	}
	return p, nil
}

// allSettled ends the resumption of a run whose trials are all settled. One that was killed between its last trial and
// its end is ended now.
func allSettled(c *cli.Context, run *store.Run, settled runner.Summary) error {
	fmt.Fprintf(c.App.ErrWriter, "run %s: all of its %s are settled, nothing is left to do\n", run.ID(), count(settled.Total(), "trial"))
	if run.Meta().State() != store.Done {
		again, err := reopen(run)
		if err != nil {
			return err
		}
		if err := again.Close(store.Done, ""); err != nil {
			return &lab.InfraError{What: "end the run", Err: err}
		}
	}
	if c.Bool("json") {
		return outcome(settled)
	}
	return errors.Join(printReport(c, run.Path()), outcome(settled))
}

// reopen opens a run for writing.
func reopen(run *store.Run) (*store.Run, error) {
	again, err := store.Resume(run.Path())
	if as[*store.BusyError](err) {
		return nil, &lab.InputError{Err: err} // another resumption was faster
	}
	return again, err
}

// hostChanges says what is not as it was when the run began: "kernel 6.12.48 became 6.12.51".
func hostChanges(run *store.Run, now results.HostFacts) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(run.Path(), store.HostFile))
	if err != nil {
		return nil, &store.Problem{Path: store.HostFile, Kind: store.Unreadable, Err: err}
	}
	var then results.HostFacts
	if err := json.Unmarshal(data, &then); err != nil {
		return nil, &store.Problem{Path: store.HostFile, Kind: store.Broken, Err: err}
	}
	var changes []string
	a, b := reflect.ValueOf(then), reflect.ValueOf(now)
	for i := range a.NumField() {
		if !a.Field(i).Equal(b.Field(i)) {
			name := a.Type().Field(i).Tag.Get("json")
			changes = append(changes, fmt.Sprintf("%s %s became %s", name, quoteEmpty(a.Field(i)), quoteEmpty(b.Field(i))))
		}
	}
	return changes, nil
}

func quoteEmpty(v reflect.Value) string {
	if text := printable(fmt.Sprint(v)); text != "" {
		return text
	}
	return `""`
}

// removeLeftovers removes the machines and volumes that a killed process of this run left: they would disturb the
// trials to come.
func removeLeftovers(c *cli.Context, run string) error {
	host, err := openHost(c.Context, c)
	if err != nil {
		return err
	}
	left, err := host.Leftovers(c.Context, hypervisor.DeadOwners)
	errs := []error{err}
	for _, l := range left {
		if l.Tag.Run != run {
			continue
		}
		ctx, cancel := context.WithTimeout(c.Context, time.Minute)
		errs = append(errs, host.Remove(ctx, l))
		cancel()
	}
	if err := errors.Join(append(errs, host.Close())...); err != nil {
		return &lab.InfraError{What: "remove what the run left behind", Err: err}
	}
	return nil
}
