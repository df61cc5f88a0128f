package filter

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// begin is how a value begins that ends with a *.
func (v Value) begin() (text string, star bool) {
	if v.Quoted && !v.star {
		return v.Text, false
	}
	return strings.CutSuffix(v.Text, "*")
}

// name is a predicate for a fact that is this name, or begins like it.
func name(fact string, v Value) string {
	switch text, star := v.begin(); {
	case star && text == "":
		return fact + ` != ""`
	case star:
		return begins(fact, text)
	default:
		return equals(fact, text)
	}
}

// misplaced finds a ! that was meant for the word.
func misplaced(v Value) *Mistake {
	if v.Quoted || !strings.HasPrefix(v.Text, "!") {
		return nil
	}
	return &Mistake{Says: "! stands before the whole word", Cure: "or in quotes, when it belongs to the value"}
}

func nameOf(fact string) func(*term, []Value, Value) *Mistake {
	return func(t *term, _ []Value, v Value) *Mistake {
		t.any = append(t.any, name(fact, v))
		return misplaced(v)
	}
}

func readQueue(t *term, _ []Value, v Value) *Mistake {
	switch text, star := v.begin(); {
	case star:
		t.queues, t.open = nil, true
	case !t.open:
		t.queues = append(t.queues, text)
	}
	t.any = append(t.any, name(factQueue, v))
	return misplaced(v)
}

// statuses are the words for where a job stands, and which status that is in the table.
var statuses = []struct{ name, status, path, note string }{
	{"dead", "dead", "", "a poison job, or cancelled"},
	{"failed", "failed", "", "its attempts are used up"},
	{"pending", "pending", "", "ready or scheduled"},
	{"ready", "pending", " && " + factDue + " == true", "pending and due"},
	{"scheduled", "pending", " && " + factDue + " == false", "pending and not due yet"},
	{"processing", "processing", "", "a worker has it"},
	{"completed", "completed", "", "done"},
}

func readStatus(t *term, _ []Value, v Value) *Mistake {
	typed := strings.ToLower(v.Text)
	var names []string
	for _, s := range statuses {
		names = append(names, s.name)
		if s.name == typed {
			t.any = append(t.any, "("+equals(factStatus, s.status)+s.path+")")
			t.statuses = append(t.statuses, s.status)
			return nil
		}
	}
	m := &Mistake{Says: fmt.Sprintf("no status is called %q", v.Text), Cure: strings.Join(names, ", ")}
	for _, name := range names {
		m.Open = m.Open || strings.HasPrefix(name, typed)
	}
	if bare, ok := strings.CutPrefix(typed, "!"); ok && slices.Contains(names, bare) {
		m.Cure = "!status:" + bare
	} else if near := Nearest(typed, names); near != "" {
		m.Cure = near + "?"
	}
	return m
}

func readError(t *term, _ []Value, v Value) *Mistake { return t.readIn(factError, v) }

// readIn reads a text that is looked for in a fact.
func (t *term) readIn(fact string, v Value) *Mistake {
	text, star := v.begin()
	switch {
	case star && text == "":
		t.any = append(t.any, fact+` != ""`)
	case text == "":
		t.any = append(t.any, equals(fact, ""))
	case star:
		t.any = append(t.any, begins(fact, text))
	case utf8.RuneCountInString(text) > longest:
		return &Mistake{Says: "a text to look for has no more than 2,000 letters", Cure: "a part of it will do"}
	default:
		t.any = append(t.any, contains(fact, text))
		t.texts++
	}
	return nil
}

// readWorker reads a worker as people name it. The owner of a lease is a fencing token,
// host:pid:boot/worker#claim, or whatever a foreign worker calls itself.
func readWorker(t *term, _ []Value, v Value) *Mistake {
	const fact = factWorker
	text, star := v.begin()
	t.any = append(t.any, name(fact, v))
	if text == "" || utf8.RuneCountInString(text) > longest {
		return nil
	}
	t.texts++
	if star {
		t.any = append(t.any, within(fact, "/"+text))
	} else {
		t.any = append(t.any, within(fact, "/"+text+"#"), begins(fact, text+":"))
	}
	if worker, host, ok := strings.Cut(text, "@"); ok {
		t.texts++
		if !star {
			host += ":"
		}
		t.any = append(t.any, "("+within(fact, "/"+worker+"#")+" && "+begins(fact, host)+")")
	}
	return misplaced(v)
}
