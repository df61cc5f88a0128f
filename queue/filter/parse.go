package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a filter may hold. PostgreSQL compiles a text that is looked for into an
// automaton of a state a letter, and keeps the 32 used last.
const (
	longest   = 2000 // letters of a text that is looked for
	mostTexts = 30   // texts that are looked for
	most      = 1000 // values in all
)

// Parse understands what somebody typed. The error is a [*Mistake], the first there is;
// the filter beside it finds nothing, so that nothing is done to what was not meant.
func Parse(text string) (Filter, error) {
	f := Filter{text: text}
	texts, values := 0, 0
	for _, w := range Words(text) {
		t, m := understand(text, w)
		texts, values = texts+t.texts, values+len(t.any)
		if m == nil && (texts > mostTexts || values > most) {
			m = &Mistake{From: w.From, To: len(text), Says: fmt.Sprintf("from here on it is too much: %d texts to look for, or %d values in all, are the most", mostTexts, most)}
		}
		if m != nil {
			f.terms = []term{{any: []string{never}, queues: []string{}, statuses: []string{}}}
			return f, m
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

func understand(text string, w Word) (t term, m *Mistake) {
	if m := impossible(text, w); m != nil {
		return t, m
	}
	t.not = w.Not
	if w.Key == nil {
		return t, t.readText(w)
	}
	k, known := keyOf(strings.ToLower(w.Key[0].Text))
	switch {
	case !known:
		return t, noKey(text, w)
	case len(w.Key) > 1 && k.Name != "payload":
		return t, &Mistake{From: w.Key[0].From, To: w.Values[0].From, Says: k.Name + " has no parts", Cure: k.Example}
	}
	for i, v := range w.Values {
		if v.Text == "" && !v.Quoted {
			return t, &Mistake{
				From: w.From, To: v.To, Says: k.Name + ": nothing stands behind it", Cure: k.Example,
				Open: w.Open && i == len(w.Values)-1,
			}
		}
		if m := k.read(&t, w.Key[1:], v); m != nil {
			m.Open = m.Open && w.Open && i == len(w.Values)-1
			if m.To == 0 {
				m.From, m.To = v.From, v.To
			}
			return t, m
		}
	}
	return t, nil
}

// impossible finds what no text of the database holds.
func impossible(text string, w Word) *Mistake {
	for i := w.From; i < w.To; {
		r, n := utf8.DecodeRuneInString(text[i:w.To])
		switch {
		case r == utf8.RuneError && n == 1:
			return &Mistake{From: i, To: i + n, Says: fmt.Sprintf("the byte %#02x is no text (UTF-8)", text[i]), Cure: "leave it out"}
		case r == 0:
			return &Mistake{From: i, To: i + n, Says: "a NUL is in no job", Cure: "leave it out"}
		}
		i += n
	}
	return nil
}

func noKey(text string, w Word) *Mistake {
	from, to := w.Key[0].From, w.Key[len(w.Key)-1].To
	name := text[from:to]
	m := &Mistake{From: from, To: to, Says: fmt.Sprintf("no key is called %q", name)}
	if near := nearKey(name); near != "" {
		m.Cure = near + "? If it is text, quote it"
	} else {
		m.Cure = "if it is text, quote it; the keys are " + strings.Join(keyNames(), ", ")
	}
	return m
}

// nearKey is the key that may have been meant, which other programs call otherwise.
func nearKey(name string) string {
	switch name = strings.ToLower(name); name {
	case "job":
		return "id"
	case "state", "is":
		return "status"
	case "owner", "host", "by":
		return "worker"
	case "created":
		return "age"
	case "dead":
		return "died"
	case "message", "msg":
		return "error"
	case "args", "data":
		return "payload"
	}
	return Nearest(name, keyNames())
}

// readText reads a word without a key.
func (t *term) readText(w Word) *Mistake {
	v := w.Values[0]
	if v.Text == "" {
		if v.Quoted {
			return &Mistake{From: w.From, To: w.To, Says: "an empty text is in every job", Cure: "leave it out", Open: w.To-v.From == 1}
		}
		return &Mistake{From: w.From, To: w.To, Says: "! stands before a word: those that the word finds are left out", Cure: "!error:timeout", Open: w.Open}
	}
	for _, fact := range []string{factError, factQueue, factKind, factKey} {
		if m := t.readIn(fact, v); m != nil {
			m.From, m.To = v.From, v.To
			return m
		}
	}
	t.texts = 1 // the same for each
	return nil
}
