package sift

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// keys are what a word may be about.
var keys = []string{"what", "queue", "kind", "job", "worker"}

// Parse reads what somebody typed. known are the words there are for what happens.
// open says that the last word is still being typed: a name or a what in it may go
// on, so it stands for all that begin like it. The error says what is wrong with the
// first word that cannot be meant; the Sift is that of the others.
func Parse(text string, known []string, open bool) (Sift, error) {
	var s Sift
	var wrong error
	words := split(text)
	for i, w := range words {
		if err := s.add(w, known, open && i == len(words)-1 && w.open); err != nil && wrong == nil {
			wrong = err
		}
	}
	return s, wrong
}

func (s *Sift) add(w word, known []string, open bool) error {
	if !w.keyed {
		if text := w.values[0].text; text != "" {
			s.Words = append(s.Words, strings.ToLower(text))
		}
		return nil
	}
	if !slices.Contains(keys, w.key) {
		return fmt.Errorf("%s: is no key (%s are); if it is text, quote it", w.key, strings.Join(keys, ", "))
	}
	for i, v := range w.values {
		if v.text == "" && !v.quoted {
			if open && i == len(w.values)-1 {
				continue // nothing of it was typed yet
			}
			return fmt.Errorf("%s: which? Nothing stands behind it", w.key)
		}
		if err := s.addValue(w.key, v, known, open && i == len(w.values)-1); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sift) addValue(key string, v value, known []string, open bool) error {
	name := Name{Text: v.text, Begins: open && !v.quoted}
	if begin, star := strings.CutSuffix(v.text, "*"); star && !v.quoted {
		name = Name{begin, true}
	}
	switch key {
	case "queue":
		s.Queues = append(s.Queues, name)
	case "kind":
		s.Kinds = append(s.Kinds, name)
	case "worker":
		s.Workers = append(s.Workers, name)
	case "job":
		id, err := strconv.ParseInt(strings.TrimPrefix(v.text, "#"), 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("job: %s is beyond all ids", v.text)
		case err != nil && !(open && v.text == "#"):
			return fmt.Errorf("job: %q is no whole number", v.text)
		case err == nil:
			s.Jobs = append(s.Jobs, id)
		}
	case "what":
		whats := whatsOf(name.Text, known)
		if len(whats) == 0 {
			return fmt.Errorf("what: nothing is called %q%s", v.text, hint(v.text, known))
		}
		s.Whats = append(s.Whats, whats...)
	}
	return nil
}

// whatsOf are the known words that are meant: the one that it is, or else all that
// begin with it. What is two words may be written with a dash.
func whatsOf(text string, known []string) (whats []string) {
	text = spoken(text)
	if slices.Contains(known, text) {
		return []string{text}
	}
	for _, word := range known {
		if text != "" && strings.HasPrefix(word, text) {
			whats = append(whats, word)
		}
	}
	return whats
}

// spoken is a what as events have it.
func spoken(text string) string {
	return strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(text))
}

// hint names what may have been meant.
func hint(text string, known []string) string {
	best, near := "", len(text)/2+1
	for _, word := range known {
		if d := apart(spoken(text), word); d <= near {
			best, near = word, d-1
		}
	}
	if best == "" {
		return " (" + strings.Join(known, ", ") + ")"
	}
	return ": " + best + "?"
}

// apart is how many letters must be changed, added or left out to make b of a.
func apart(a, b string) int {
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
