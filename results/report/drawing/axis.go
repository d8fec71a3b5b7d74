package drawing

import (
	"math"

	"gonum.org/v1/plot"
)

// Scale maps values to places along one axis.
type Scale struct {
	Low, High float64 // values
	From, To  float64 // places
	Log       bool
}

// At returns the place of a value; values outside are held at the ends.
func (s Scale) At(v float64) float64 {
	low, high := s.Low, s.High
	if s.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(math.Max(v, math.SmallestNonzeroFloat64))
	}
	if high <= low {
		return s.From
	}
	share := math.Min(1, math.Max(0, (v-low)/(high-low)))
	return s.From + share*(s.To-s.From)
}

// Tick is a value worth a label.
type Tick struct {
	Value float64
	Label bool // false for the small ones between
}

// Ticks returns round values within the scale.
func (s Scale) Ticks() []Tick {
	if !(s.High > s.Low) {
		return []Tick{{s.Low, true}}
	}
	var ticks []Tick
	if s.Log {
		for e := math.Floor(math.Log10(s.Low)); ; e++ {
			decade := math.Pow(10, e)
			if decade > s.High*1.0001 {
				break
			}
			if decade >= s.Low*0.9999 {
				ticks = append(ticks, Tick{decade, true})
			}
		}
		if len(ticks) > 0 {
			return ticks
		}
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(s.Low, s.High) {
		if t.Value >= s.Low && t.Value <= s.High {
			ticks = append(ticks, Tick{t.Value, t.Label != ""})
		}
	}
	return ticks
}
