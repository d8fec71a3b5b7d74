package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"platter/guest"
	"platter/results"

	"golang.org/x/sys/unix"
)

// A disk is steady when its last rounds of writing differ by no more than a share of their mean, as SNIA's test of
// solid-state storage has it (20 % over five rounds there, of random writes; ours are sequential and steadier).
const (
	steadyRounds = 4
	steadyShare  = 0.10
	steadyLimit  = 12 // rounds at most: a disk that is not steady then is measured, and said to be unsteady
)

// preconditions are what may be done to disks before anything is made on them.
var preconditions = []string{"", "none", "fill", "steady"}

func (t *trial) preconditions() bool {
	return t.job.Precondition == "fill" || t.job.Precondition == "steady"
}

// precondition writes every disk from end to end, so that the first writes of the trial do not pay for allocating space
// below the guest: once, or again and again until the disk is steady. Each round's rate is kept.
func (t *trial) precondition(ctx context.Context) error {
	var m guest.Measurement
	rounds := 0
	for _, w := range t.job.Disks {
		limit := 1
		if t.job.Precondition == "steady" {
			limit = steadyLimit
		}
		rates, err := untilSteady(limit, func() (float64, error) { return t.fillDisk(ctx, w) })
		if err != nil {
			return fmt.Errorf("precondition disk %s: %w", w.Name, err)
		}
		for i, rate := range rates {
			m.Probes = append(m.Probes, results.Probe{Name: "precondition:" + w.Name, When: fmt.Sprintf("round %02d", i+1),
				Values: map[string]*float64{"precondition_bytes_per_second": number(rate)}})
		}
		if limit > 1 && !steady(rates) {
			last := rates[len(rates)-steadyRounds:]
			m.Flags = append(m.Flags, results.Flag{Name: "unsteady_disk", Detail: fmt.Sprintf("disk %s: after %d rounds of writing the last %d still differ by %.0f %%, more than %.0f %%",
				w.Name, len(rates), steadyRounds, 100*spread(last), 100*steadyShare)})
		}
		rounds = max(rounds, len(rates))
	}
	asked, effective := t.job.Precondition, t.job.Precondition
	if effective == "steady" {
		effective = fmt.Sprintf("steady, %d rounds", rounds)
	}
	m.Settings = []results.Setting{{Subject: "disk", Name: "precondition", Asked: &asked, Effective: &effective}}
	return t.measure(m)
}

// untilSteady repeats a round until the rates are steady, or to the limit, and returns the rate of each.
func untilSteady(limit int, round func() (float64, error)) (rates []float64, err error) {
	for len(rates) < limit && !steady(rates) {
		rate, err := round()
		if err != nil {
			return rates, err
		}
		rates = append(rates, rate)
	}
	return rates, nil
}

func steady(rates []float64) bool {
	return len(rates) >= steadyRounds && spread(rates[len(rates)-steadyRounds:]) <= steadyShare
}

// spread is the difference between the largest and the smallest, as a share of the mean.
func spread(rates []float64) float64 {
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return (slices.Max(rates) - slices.Min(rates)) / (sum / float64(len(rates)))
}

// fillDisk writes a disk from end to end, past the guest's cache, and returns the bytes a second, flush included.
func (t *trial) fillDisk(ctx context.Context, w guest.Disk) (float64, error) {
	node := t.disks[w.Name].Node
	fd, err := unix.Open(node, unix.O_WRONLY|unix.O_EXCL|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	f, began := os.NewFile(uintptr(fd), node), time.Now()
	err = t.fillTo(ctx, f, w.SizeBytes, "precondition "+w.Name)
	err = errors.Join(err, f.Sync())
	took := time.Since(began).Seconds()
	return float64(w.SizeBytes) / took, errors.Join(err, f.Close())
}
