package storage

import "platter/guest"

func init() {
	registerLayout(Layout{
		Name:  "disk",
		Check: noLayoutFaults,
		Build: func(node guest.Layout, of []Target, _ int) (Target, []Step) {
			return of[0], nil
		},
		Teardown: func(_ guest.Layout, of []Target, _ int) [][]string { return undelay(of[0]) },
		Describe: func(node guest.Layout, _ []string) string { return "disk(" + node.Disk + ")" },
		ReadBack: noLayoutFacts,
		Busy:     layoutNeverBusy,
	})
}
