package filter

import "strings"

// Known is what there is to complete names with.
type Known struct {
	Queues, Kinds, Workers []string
}

// Completion is one way to go on at the cursor.
type Completion struct {
	From, To int    // the bytes that it replaces
	Text     string // with what
	Note     string // what that means, in a few words; may be ""
}

// Complete tells how a text can go on at a place in it, the likeliest first.
func Complete(text string, at int, known Known) []Completion {
	at = max(0, min(at, len(text)))
	from, w := at, Word{}
	if words := Words(text[:at]); len(words) > 0 && words[len(words)-1].To == at {
		w = words[len(words)-1]
		from = w.From
	}
	whole := wordAt(text, from)
	switch {
	case w.Key != nil:
		return completeValue(w, whole, known)
	case len(w.Values) > 0 && w.Values[0].Quoted:
		return nil // text
	case w.Not:
		from++
	}
	to := at
	if whole.Key != nil {
		to = whole.Key[0].To + 1 // with what stands behind it, which comes again
	} else if len(whole.Values) > 0 {
		to = whole.To
	}
	return completeWord(from, max(to, at), text[from:at], known)
}

// wordAt is the word that begins at a place.
func wordAt(text string, from int) Word {
	for _, w := range Words(text) {
		if w.From == from {
			return w
		}
	}
	return Word{}
}

// completeWord goes on from where no key was typed: with a key, or with a name that
// begins like this and the key that it needs.
func completeWord(from, to int, typed string, known Known) (all []Completion) {
	for _, k := range keys {
		if begun(k.Name, typed) {
			all = append(all, Completion{from, to, k.Name + k.follows(), k.Help})
		}
	}
	if typed == "" {
		return all
	}
	for _, k := range keys {
		if k.names == nil {
			continue
		}
		for _, n := range k.names(known, "") {
			if begun(n.Text, typed) {
				all = append(all, Completion{from, to, k.Name + ":" + Quote(n.Text), n.Note})
			}
		}
	}
	return all
}

// completeValue goes on behind a key: with names that begin with what was typed, and
// then with those that have it within.
func completeValue(w, whole Word, known Known) (all []Completion) {
	k, ok := keyOf(strings.ToLower(w.Key[0].Text))
	if !ok || k.names == nil {
		return nil
	}
	last := len(w.Values) - 1
	v, to := w.Values[last], w.To
	if last < len(whole.Values) {
		to = max(to, whole.Values[last].To)
	}
	var within []Completion
	for _, n := range k.names(known, v.Text) {
		c := Completion{v.From, to, Quote(n.Text), n.Note}
		if n.sign {
			c.Text = n.Text
		}
		switch {
		case n.Text == v.Text:
		case begun(n.Text, v.Text):
			all = append(all, c)
		case strings.Contains(strings.ToLower(n.Text), strings.ToLower(v.Text)):
			within = append(within, c)
		}
	}
	return append(all, within...)
}

func begun(name, typed string) bool {
	return len(typed) <= len(name) && strings.EqualFold(name[:len(typed)], typed)
}

// follows is what stands behind a key.
func (k key) follows() string {
	if k.Name == "payload" {
		return "."
	}
	return ":"
}

// offer is something that can stand behind a key.
type offer struct {
	Text, Note string
	sign       bool // it is no name, and stands as it is
}

// offers are what can stand behind a key, given what is there of it.
type offers func(known Known, typed string) []offer

func named(note string, of func(Known) []string) offers {
	return func(known Known, _ string) (all []offer) {
		for _, name := range of(known) {
			all = append(all, offer{Text: name, Note: note})
		}
		return all
	}
}

var (
	queueNames  = named("a queue", func(k Known) []string { return k.Queues })
	kindNames   = named("a kind", func(k Known) []string { return k.Kinds })
	workerNames = named("a worker", func(k Known) []string { return k.Workers })
)

func statusNames(Known, string) (all []offer) {
	for _, s := range statuses {
		all = append(all, offer{Text: s.name, Note: s.note})
	}
	return all
}

// signs compare a number.
func signs(_ Known, typed string) []offer {
	if typed != "" {
		return nil
	}
	return []offer{{">", "more than", true}, {">=", "at least", true}, {"<", "less than", true}, {"<=", "at most", true}}
}

// spans compare a time, and end it with its unit.
func spans(_ Known, typed string) (all []offer) {
	if typed == "" {
		return []offer{{">", "longer ago than", true}, {"<", "not so long ago as", true}}
	}
	if last := typed[len(typed)-1]; last < '0' || last > '9' {
		return nil
	}
	for _, u := range units {
		all = append(all, offer{typed + u.name, u.note, true})
	}
	return all
}
