package ui

import (
	"strings"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/sift"
	"github.com/leasetop/leasetop/workers"
)

// level is how much of what happens is shown.
type level int

const (
	everything level = iota
	noRoutine
	troubles
)

var levelNames = [...]string{"everything", "without routine", "troubles only"}

func (l level) String() string { return levelNames[l] }

func (l level) next() level { return (l + 1) % level(len(levelNames)) }

// sieve is which lines of a record are shown: those of a level that words let through.
type sieve struct {
	level level
	text  string // the words, as they were typed
	words sift.Sift
	wrong error // about the text; what could be read of it holds
}

// whats are the words there are for what happens.
var whats = func() (words []string) {
	for _, what := range watch.Whats {
		words = append(words, string(what))
	}
	for _, what := range workers.Whats {
		words = append(words, string(what))
	}
	return append(words, missedWhat)
}()

// missedWhat is what a line is that stands for events nobody can tell any more.
const missedWhat = "missed"

// Take reads the words. open says that the last is still being typed.
func (s *sieve) Take(text string, open bool) {
	s.text = text
	s.words, s.wrong = sift.Parse(text, whats, open)
}

// String says what is shown.
func (s *sieve) String() string {
	switch {
	case s.words.Empty():
		return s.level.String()
	case s.level == everything:
		return "filtered"
	}
	return s.level.String() + ", filtered"
}

// lets tells whether a line is shown. That events are missing is shown always.
func (s *sieve) lets(p *picture, h *happening) bool {
	switch {
	case h.missed > 0:
		return true
	case s.level == noRoutine && h.routine(), s.level == troubles && !h.trouble():
		return false
	case s.words.Empty():
		return true
	}
	thing := p.thing(h)
	return s.words.Lets(&thing)
}

// thing is a line as words are about it.
func (p *picture) thing(h *happening) sift.Thing {
	thing := sift.Thing{}
	if e := h.work; e != nil {
		thing = sift.Thing{What: string(e.What), Job: e.JobID, Queue: e.Queue, Worker: e.Worker, Owner: e.Owner}
		if e.What == workers.ReapedDead {
			thing.Also = string(watch.Buried)
		}
	} else {
		thing = sift.Of(h.feed)
	}
	thing.Shown = func() string {
		told := p.tell(*h)
		return strings.Join([]string{told.source, told.word, told.text, told.task, told.who, told.note}, " ")
	}
	return thing
}
