package stats

import (
	"fmt"
	"math"

	"platter/results"
)

// Veto takes a verdict back for a reason that lies outside of the two samples: the laboratory was not quiet, or changed.
// What was not decided before stays as it is.
func (c *Comparison) Veto(reason string) {
	if c.Verdict.Decided() || c.Verdict == Suspect {
		c.Verdict, c.Reason, c.NeededN = Inconclusive, reason, nil
	}
}

// ControlVeto says why an A/A control forbids verdicts: the same cell under two names lies further apart than half of the
// tolerance. It is empty when it does not, and when the control has no ratio.
func ControlVeto(control Comparison, toleranceRatio float64) string {
	if control.Ratio == nil || math.Abs(math.Log(*control.Ratio)) <= math.Log1p(toleranceRatio/2) {
		return ""
	}
	return fmt.Sprintf("the A/A control, the same cell under two names, lies %s apart, more than half of the tolerance", results.FormatChange(*control.Ratio))
}

// DriftVeto says why a probe of the laboratory, compared between the trials of the two sides, forbids verdicts: it is
// surely not equal, and by more than the tolerance. It is empty when it is not, and when n is too small to say.
func DriftVeto(probe string, c Comparison, toleranceRatio float64) string {
	if c.Low == nil || *c.Low <= 1 && *c.High >= 1 || math.Abs(math.Log(*c.Ratio)) <= math.Log1p(toleranceRatio) {
		return ""
	}
	return fmt.Sprintf("the laboratory changed: its own %s differs by %s [%s, %s] between the two", probe,
		results.FormatChange(*c.Ratio), results.FormatChange(*c.Low), results.FormatChange(*c.High))
}

// SteadyVeto says why unsteady trials forbid verdicts: they are more than a third of those that could be judged.
func SteadyVeto(unsteady, judged int) string {
	if 3*unsteady <= judged {
		return ""
	}
	return fmt.Sprintf("%d of %d trials were not steady", unsteady, judged)
}

// The shape of a steady window: in steadyParts equal parts, their means lie within steadyRange of the whole mean, and
// the straight line through the window rises or falls by no more than steadySlope of it.
const (
	steadyParts = 5
	steadyRange = 0.20
	steadySlope = 0.10
)

// Steady judges the rate of a measured window, one value a second. It is nil where there are fewer than two values a
// part or no rate at all: then nobody knows.
func Steady(values []float64) *bool {
	n := len(values)
	mean, _ := moments(values)
	if n < 2*steadyParts || mean <= 0 {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for part := range steadyParts {
		m, _ := moments(values[part*n/steadyParts : (part+1)*n/steadyParts])
		low, high = min(low, m), max(high, m)
	}
	// Least squares against time; time is centred, so its own mean drops out.
	products, squares := 0.0, 0.0
	for i, v := range values {
		at := float64(i) - float64(n-1)/2
		products, squares = products+at*(v-mean), squares+at*at
	}
	rise := products / squares * float64(n-1)
	steady := (high-low)/mean <= steadyRange && math.Abs(rise)/mean <= steadySlope
	return &steady
}
