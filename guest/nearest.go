package guest

// Nearest is the known word that looks most like an unknown one, for messages; "" when none is close. Of equally near words
// it is the first by name.
func Nearest(word string, known []string) string {
	best, bestDistance := "", len(word)/3+2
	for _, k := range known {
		d := distance(word, k)
		if d < bestDistance || d == bestDistance && best != "" && k < best {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
