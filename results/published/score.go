package published

import "math"

// Values are figures by id and level: printed ones, or ours in their place.
type Values map[string]map[string]float64

// Printed returns what a write-up printed.
func (s Study) Printed() Values {
	values := Values{}
	for _, f := range s.Figures {
		values[f.ID] = f.Values
	}
	return values
}

// ScoresOf computes the scores of a write-up by its own formula, in per cent: the write score is the sum of the average
// times over the sum of a level's times, the transaction score the sum of a level's rates over the sum of the average
// rates, and overall performance the mean of the two. A level without all its figures has no score.
//
// The sums let the largest row dominate; that is the formula as published, kept for comparison only.
func (s Study) ScoresOf(values Values) map[string]map[string]float64 {
	scores := map[string]map[string]float64{}
	for _, score := range s.Scores {
		scores[score.ID] = map[string]float64{}
	}
	if len(scores) == 0 {
		return scores
	}
	for _, level := range s.Levels {
		writeAverage, write, ok1 := s.sums("write", level, values)
		rateAverage, rate, ok2 := s.sums("transaction", level, values)
		if ok1 && write > 0 {
			scores["write"][level] = 100 * writeAverage / write
		}
		if ok2 && rateAverage > 0 {
			scores["transaction"][level] = 100 * rate / rateAverage
		}
		if ok1 && ok2 && write > 0 && rateAverage > 0 {
			scores["overall"][level] = (scores["write"][level] + scores["transaction"][level]) / 2
		}
	}
	return scores
}

// sums adds up the figures of a score: their averages over the levels, and one level's own.
func (s Study) sums(score, level string, values Values) (average, own float64, complete bool) {
	complete = true
	for _, f := range s.Figures {
		if f.Score != score {
			continue
		}
		sum := 0.0
		for _, l := range s.Levels {
			v, ok := values[f.ID][l]
			complete = complete && ok
			sum += v
		}
		average += sum / float64(len(s.Levels))
		own += values[f.ID][level]
	}
	return average, own, complete
}

// MeansOf is what the scores would be without a row that dominates: per score and level the geometric mean over rows of
// how much better than the average of all levels the level is, in per cent. Incomplete levels have none.
func (s Study) MeansOf(values Values) map[string]map[string]float64 {
	means := map[string]map[string]float64{}
	if len(s.Scores) == 0 {
		return means
	}
	for _, score := range []string{"write", "transaction"} {
		means[score] = map[string]float64{}
		for _, level := range s.Levels {
			if mean, ok := s.geometric(score, level, values); ok {
				means[score][level] = 100 * mean
			}
		}
	}
	return means
}

func (s Study) geometric(score, level string, values Values) (float64, bool) {
	sum, rows := 0.0, 0
	for _, f := range s.Figures {
		if f.Score != score {
			continue
		}
		average := 0.0
		for _, l := range s.Levels {
			v, ok := values[f.ID][l]
			if !ok || v <= 0 {
				return 0, false
			}
			average += v / float64(len(s.Levels))
		}
		better := average / values[f.ID][level]
		if score == "transaction" {
			better = 1 / better
		}
		sum += math.Log(better)
		rows++
	}
	return math.Exp(sum / float64(max(rows, 1))), rows > 0
}
