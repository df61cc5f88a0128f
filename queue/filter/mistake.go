package filter

import "strings"

// Mistake says what cannot be meant, where, and what could.
type Mistake struct {
	From, To int    // the bytes of the text that cannot be meant
	Says     string // what is wrong with them
	Cure     string // what to write instead; "" when nobody knows
	Open     bool   // the text ends with it, and it may become right as it goes on: whoever still types is not wrong yet
}

// Error is the mistake in one line.
func (m *Mistake) Error() string {
	if m.Cure == "" {
		return m.Says
	}
	return m.Says + ": " + m.Cure
}

// Nearest is the one of some words that may have been meant by what was typed, "" when
// none is near.
func Nearest(typed string, words []string) string {
	typed = strings.ToLower(typed)
	best, near := "", min(len(typed)/2+1, 4)
	for _, word := range words {
		if len(word) > len(typed)+near {
			continue
		}
		if d := apart(typed, word); d <= near && d < len(word) {
			best, near = word, d-1
		}
	}
	return best
}

// apart is how many letters must be changed, added or left out to make b of a; a text
// that is too long to be any word is far from all.
func apart(a, b string) int {
	if len(a) > 100 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
