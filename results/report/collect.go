package report

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"platter/results"
)

// Folder is a run folder as a report reads it; *store.Run is one.
type Folder interface {
	ID() string
	Path() string
	Status() string
	Command() []string
	Plan() ([]byte, error)
	Results() iter.Seq2[results.Result, error]
	// Samples opens samples.csv of an attempt; the error is fs.ErrNotExist when there is none.
	Samples(trialID string, attempt int) (io.ReadCloser, error)
}

// RunFactor is the factor that tells several folders of one report apart.
const RunFactor = "run"

// trial is what a report keeps of one result: small, because there may be thousands.
type trial struct {
	run      string
	id       string
	index    int
	round    int
	attempt  int
	factors  map[string]string
	status   results.Status
	reason   string
	evidence string
	flags    []results.Flag
	metrics  []results.Metric
	facts    []fact
	accel    string
	boot     *float64
	overhead *float64
	guest    *float64
	wall     *float64
	retried  int // earlier attempts
	control  bool
	steady   map[string]bool // by measured step; absent where nobody knows

	histograms   []*hdrhistogram.Histogram
	histogramsOf []results.Histogram // beside histograms, without the encoded form

	row, column string // labels, set when the layout is known
}

// collection is everything read from the folders.
type collection struct {
	runs     []Run
	plans    []plan
	factors  []Factor
	trials   []*trial
	missing  []*trial // planned, without any result
	controls []*trial // second names of cells (A/A), with a result or without; in neither of the others
	problems []string
	unended  int // of the problems: attempts that left no result
	again    []string
	titles   titles
}

// collect reads all folders. Broken files become problems; a folder without a readable plan is one as a whole.
func collect(folders []Folder) collection {
	var c collection
	several := len(folders) > 1
	for _, folder := range folders {
		data, err := folder.Plan()
		if err != nil {
			c.problem(folder, err)
			continue
		}
		p, err := readPlan(data)
		if err != nil {
			c.problem(folder, err)
			continue
		}
		id := clean(folder.ID())
		if several {
			p.Factors = append([]Factor{{Name: RunFactor, Levels: []string{id}}}, p.Factors...)
			for i := range p.Trials {
				p.Trials[i].Factors[RunFactor] = id
			}
		}
		c.plans = append(c.plans, p)
		c.factors = mergeFactors(c.factors, p.Factors)
		c.runs = append(c.runs, Run{ID: id, Path: clean(folder.Path()), Status: clean(folder.Status()), Rounds: p.Rounds, Seed: p.Seed})
		if command := folder.Command(); len(command) > 0 {
			c.again = append(c.again, oneLine(clean(strings.Join(command, " "))))
		}
		c.readTrials(folder, p, several)
	}
	return c
}

func (c *collection) problem(folder Folder, err error) {
	c.problems = append(c.problems, oneLine(clean(fmt.Sprintf("%s: %v", folder.ID(), err))))
	if isIncomplete(err) {
		c.unended++
	}
}

// readTrials keeps one attempt a trial: the last valid one, otherwise the last.
func (c *collection) readTrials(folder Folder, p plan, several bool) {
	byID := map[string]*trial{}
	var incomplete []error
	for result, err := range folder.Results() {
		if err != nil {
			if isIncomplete(err) {
				incomplete = append(incomplete, err)
			} else {
				c.problem(folder, err)
			}
			continue
		}
		if result.Server != nil {
			result.Server.Variables = nil // hundreds, and no format shows them
		}
		histograms := result.Histograms // long, not shown, and not to be cut as text is
		result.Histograms = nil
		cleanAll(&result)
		result.Metrics = derive(result)
		c.dropNameless(folder, &result)
		t := c.compact(result)
		c.keepHistograms(folder, t, histograms)
		if several {
			t.factors[RunFactor] = t.run
		}
		c.factors = mergeFactors(c.factors, factorsOf(t)) // a level the plan does not know is shown all the same
		byID[t.id] = prefer(byID[t.id], t)
	}
	for _, planned := range p.Trials {
		t := byID[planned.ID]
		if t == nil {
			t = &trial{run: clean(folder.ID()), id: planned.ID, index: planned.Index, round: planned.Round, factors: planned.Factors}
			if !planned.Control {
				c.missing = append(c.missing, t)
			}
		}
		if planned.Control {
			t.control = true
			c.controls = append(c.controls, t)
		}
	}
	for _, t := range byID {
		if !t.control {
			c.trials = append(c.trials, t)
		}
	}
	for _, err := range incomplete { // only worth a word when no other attempt of the trial ended
		if !coveredBy(byID, err) {
			c.problem(folder, err)
		}
	}
	slices.SortFunc(c.trials, func(a, b *trial) int {
		if order := strings.Compare(a.run, b.run); order != 0 {
			return order
		}
		if order := a.index - b.index; order != 0 {
			return order
		}
		return strings.Compare(a.id, b.id)
	})
}

// dropNameless leaves out metrics whose names no format could print as they are. The store refuses such results, but a
// report must not depend on that.
func (c *collection) dropNameless(folder Folder, r *results.Result) {
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m results.Metric) bool {
		err := results.CheckMetricName(m.Name)
		if err != nil {
			c.problem(folder, fmt.Errorf("trial %s: %w; left out", r.TrialID, err))
		}
		return err != nil
	})
}

// keepHistograms decodes the histograms of a trial that will be shown.
func (c *collection) keepHistograms(folder Folder, t *trial, encoded []results.Histogram) {
	if t.status != results.StatusOK {
		return
	}
	decoded, err := decodeHistograms(encoded)
	if err != nil {
		c.problem(folder, fmt.Errorf("trial %s: %w", t.id, err))
		return
	}
	t.histograms = decoded
	for _, h := range encoded {
		h.Encoded = ""
		cleanAll(&h)
		t.histogramsOf = append(t.histogramsOf, h)
	}
}

// prefer chooses between two attempts of a trial and counts the other as retried: valid before not valid, then the later.
func prefer(old, t *trial) *trial {
	if old == nil {
		return t
	}
	kept, dropped := t, old
	if oldOK, newOK := old.status == results.StatusOK, t.status == results.StatusOK; oldOK && !newOK || oldOK == newOK && old.attempt > t.attempt {
		kept, dropped = old, t
	}
	kept.retried += dropped.retried + 1
	return kept
}

// compact keeps what a report needs of a result and counts what its title says.
func (c *collection) compact(r results.Result) *trial {
	c.titles.add(r)
	return &trial{
		run: r.RunID, id: r.TrialID, index: r.Index, round: r.Round, attempt: r.Attempt, factors: r.Factors,
		status: r.Status, reason: oneLine(r.Reason), evidence: r.Evidence, flags: r.Flags, metrics: r.Metrics,
		facts: factsOf(r), accel: r.Accel, boot: r.BootSeconds, overhead: r.OverheadSeconds, guest: r.GuestSeconds, wall: r.WallSeconds,
	}
}

func factorsOf(t *trial) []Factor {
	var names []string
	for name := range t.factors {
		names = append(names, name)
	}
	slices.Sort(names)
	factors := make([]Factor, len(names))
	for i, name := range names {
		factors[i] = Factor{name, []string{t.factors[name]}}
	}
	return factors
}

// incompleter is what the reader of folders says about an attempt without a result.
type incompleter interface {
	error
	IncompleteAttempt() (trialID string, ok bool)
}

func isIncomplete(err error) bool {
	var i incompleter
	if !errors.As(err, &i) {
		return false
	}
	_, ok := i.IncompleteAttempt()
	return ok
}

func coveredBy(byID map[string]*trial, err error) bool {
	var i incompleter
	errors.As(err, &i)
	id, _ := i.IncompleteAttempt()
	return byID[id] != nil
}
