package sift

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue/filter"
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
	for _, w := range filter.Words(text) {
		if err := s.add(w, known, open && w.Open); err != nil && wrong == nil {
			wrong = err
		}
	}
	return s, wrong
}

func (s *Sift) add(w filter.Word, known []string, open bool) error {
	if !w.Not {
		return s.addWord(w, known, open)
	}
	var not Sift
	err := not.addWord(w, known, open)
	if !not.Empty() {
		s.Not = append(s.Not, not)
	}
	return err
}

func (s *Sift) addWord(w filter.Word, known []string, open bool) error {
	if w.Key == nil {
		if text := w.Values[0].Text; text != "" {
			s.Words = append(s.Words, strings.ToLower(text))
		}
		return nil
	}
	var parts []string
	for _, part := range w.Key {
		parts = append(parts, part.Text)
	}
	key := strings.ToLower(strings.Join(parts, "."))
	if !slices.Contains(keys, key) {
		return fmt.Errorf("%s: is no key (%s are); if it is text, quote it", key, strings.Join(keys, ", "))
	}
	for i, v := range w.Values {
		if v.Text == "" && !v.Quoted {
			if open && i == len(w.Values)-1 {
				continue // nothing of it was typed yet
			}
			return fmt.Errorf("%s: which? Nothing stands behind it", key)
		}
		if err := s.addValue(key, v, known, open && i == len(w.Values)-1); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sift) addValue(key string, v filter.Value, known []string, open bool) error {
	name := Name{Text: v.Text, Begins: open && !v.Quoted}
	if begin, star := strings.CutSuffix(v.Text, "*"); star && !v.Quoted {
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
		id, err := strconv.ParseInt(strings.TrimPrefix(v.Text, "#"), 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("job: %s is beyond all ids", v.Text)
		case err != nil && !(open && v.Text == "#"):
			return fmt.Errorf("job: %q is no whole number", v.Text)
		case err == nil:
			s.Jobs = append(s.Jobs, id)
		}
	case "what":
		whats := whatsOf(name.Text, known)
		if len(whats) == 0 {
			return fmt.Errorf("what: nothing is called %q%s", v.Text, hint(v.Text, known))
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
	best := filter.Nearest(spoken(text), known)
	if best == "" {
		return " (" + strings.Join(known, ", ") + ")"
	}
	return ": " + best + "?"
}
