package lab

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"platter/guest"
	"platter/results"
)

// Expand resolves a study into its plan. It is pure: the same study and registry give the same plan, byte for byte.
// All faults come back at once as an InputError.
func Expand(s Study, r Registry) (Plan, error) {
	cells, err := s.resolve(r)
	if err != nil {
		return Plan{}, err
	}
	shareAddons(cells)
	factors, _ := s.axes()
	plan := Plan{
		Schema: PlanSchema, Study: s.Name, Scale: s.Scale, Question: s.Question, Rounds: s.Rounds,
		Factors: kept(factors, cells), MemoryBytes: s.Machine.MemoryBytes, TrialSeconds: s.TrialSeconds,
		Era: s.Era,
	}
	plan.Claims, plan.Notes = s.claimsFor(cells)
	plan.Notes = append(plan.Notes, s.notes(cells, r)...)
	trials, err := s.cellTrials(cells, plan.Factors, r)
	if err != nil {
		return Plan{}, err
	}
	trials = s.withControls(trials)
	plan.Successors = s.successors(trials)
	if plan.Seed, err = s.seed(trials); err != nil {
		return Plan{}, err
	}
	plan.Trials = order(trials, s.Rounds, plan.Seed)
	for _, c := range cells {
		plan.DiskBytes = max(plan.DiskBytes, diskBytes(c.disks))
		plan.Images = append(append(plan.Images, c.root, c.server.Image), c.addons...)
	}
	plan.Tarballs = tarballs(cells)
	slices.Sort(plan.Images)
	plan.Images = slices.Compact(plan.Images)
	if plan.Digest, err = results.Digest(plan); err != nil {
		return Plan{}, fmt.Errorf("digest of the plan: %w", err)
	}
	return plan, nil
}

// shareAddons gives every cell the add-on images that any of them needs, so that cells differ in nothing else.
func shareAddons(cells []cell) {
	var all []string
	for _, c := range cells {
		for _, name := range c.addons {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	for i := range cells {
		cells[i].addons = all
	}
}

// cellTrials makes the first trial of each cell; order makes the rounds of them.
func (s Study) cellTrials(cells []cell, factors []Factor, r Registry) ([]Trial, error) {
	varying := map[string]bool{}
	for _, f := range factors {
		varying[f.Name] = len(f.Levels) > 1
	}
	trials := make([]Trial, len(cells))
	for i, c := range cells {
		id, err := c.id(s)
		if err != nil {
			return nil, fmt.Errorf("identity of cell %s: %w", c.slug(varying), err)
		}
		disks := guestDisks(c.disks)
		trials[i] = Trial{
			ID: fmt.Sprintf("%03d-%s", i+1, c.slug(varying)), Name: c.name(s.Name, 0), CellID: id, Factors: c.levels,
			Machine: s.Machine, Root: c.root, Addons: c.addons, Server: c.server.Image, Disks: c.disks,
			Commands: r.Commands(c.storage, disks),
			Job: guest.Job{
				Protocol: guest.Protocol, Disks: disks, Storage: c.storage, Server: c.server, Steps: c.steps,
				SampleSeconds: s.SampleSeconds, DeadlineSeconds: s.DeadlineSeconds,
				Quiesce: guest.Quiesce{LimitSeconds: s.QuiesceSeconds}, Precondition: s.Precondition, Probes: s.Probes,
			},
		}
	}
	return trials, nil
}

// withControls adds the second names of the cells that the study's A/A control picks.
func (s Study) withControls(cells []Trial) []Trial {
	out := slices.Clone(cells)
	for _, t := range cells {
		if len(s.Control) == 0 || !s.Control.Match(t.Factors) {
			continue
		}
		_, slug, _ := strings.Cut(t.ID, "-")
		t.ID = fmt.Sprintf("%03d-%s-control", len(out)+1, slug)
		t.Name = strings.TrimSuffix(t.Name, "round=0") + "control=aa/round=0"
		t.Control = true
		out = append(out, t)
	}
	return out
}

// order repeats the cells in rounds, each a permutation of its own. All cells of a round get the same seed, so that
// they see the same data; rounds differ.
func order(cells []Trial, rounds int, seed uint64) []Trial {
	out := make([]Trial, 0, len(cells)*rounds)
	for round := 1; round <= rounds; round++ {
		random := rand.New(rand.NewPCG(seed, uint64(round)))
		roundSeed := random.Uint64() & maxSeed
		for _, i := range random.Perm(len(cells)) {
			t := cells[i]
			t.Index, t.Round = len(out), round
			t.ID = fmt.Sprintf("%s/%d", t.ID, round)
			t.Name = strings.TrimSuffix(t.Name, "round=0") + fmt.Sprintf("round=%d", round)
			t.Job.Trial, t.Job.Seed = t.Name, roundSeed
			out = append(out, t)
		}
	}
	return out
}

// seed is the study's, or the first 53 bits of the digest of what is measured, so that it changes with the study and
// with nothing else.
func (s Study) seed(trials []Trial) (uint64, error) {
	if s.Seed != nil {
		return *s.Seed, nil
	}
	digest, err := results.Digest(map[string]any{"study": s.Name, "scale": s.Scale, "rounds": s.Rounds, "trials": trials})
	if err != nil {
		return 0, fmt.Errorf("seed of the study: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil {
		return 0, fmt.Errorf("seed of the study: digest %s: %w", digest, err)
	}
	return binary.BigEndian.Uint64(raw) & maxSeed, nil
}

// serial names a disk inside its machine: readable, unique, and within the 20 bytes that every bus carries.
func serial(study, disk string) string {
	sum := sha256.Sum256([]byte(study + "\x00" + disk))
	return strings.TrimRight(disk[:min(len(disk), 11)], "-") + "-" + hex.EncodeToString(sum[:4])
}

func diskBytes(disks []Disk) (total int64) {
	for _, d := range disks {
		if d.Passport == nil { // a real disk takes nothing of the host's space
			total += d.SizeBytes
		}
	}
	return total
}

// kept are the factors with the levels that still have a cell.
func kept(factors []Factor, cells []cell) []Factor {
	out := make([]Factor, len(factors))
	for i, f := range factors {
		out[i] = Factor{Name: f.Name, Levels: slices.DeleteFunc(slices.Clone(f.Levels), func(l string) bool {
			return !slices.ContainsFunc(cells, func(c cell) bool { return c.levels[f.Name] == l })
		})}
	}
	return out
}
