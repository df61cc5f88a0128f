// Package sift chooses events by what they are about. Whoever types into the
// dashboard's events and whoever gives flags to `leasetop events` choose by the
// same rules.
//
// What is typed is words with blanks between. A word with a key is about one
// thing, others are looked for in all that is shown:
//
//	what:buried,failed queue:emails job:123 worker:w3 "smtp 421"
//
// Of several values for one key, in one word or in several, any will do; different
// keys, and every word without one, must hold together. Names are meant whole, and
// everything literally: there are no patterns, except that an * at the end of a
// queue, kind or worker stands for any ending. A ! before a word leaves
// out what the word would choose. In quotes blanks, commas, colons, ! and that * mean
// nothing ("" is a quote then). These are the words of queue/filter, which chooses jobs.
package sift

import (
	"slices"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// Sift is what is chosen. The zero value chooses everything.
type Sift struct {
	Whats                  []string
	Jobs                   []int64
	Queues, Kinds, Workers []Name
	Words                  []string // in lower case
	Not                    []Sift   // what any of these chooses is left out
}

// Name is a name, or how it begins.
type Name struct {
	Text   string
	Begins bool
}

// Names are names meant whole.
func Names(texts []string) []Name {
	names := make([]Name, len(texts))
	for i, text := range texts {
		names[i].Text = text
	}
	return names
}

// Thing is an event as a Sift sees it.
type Thing struct {
	What        string
	Also        string // another word that it goes by; may be ""
	Job         int64  // 0 when it is about no single job
	Queue, Kind string
	Worker      string        // the worker's name, where it is known
	Owner       string        // of the lease, as it stands in the row; see queue.ParseToken
	Shown       func() string // all that is shown of it, for Words
}

// Of is an event of the feed as a Sift sees it.
func Of(e *watch.Event) Thing {
	return Thing{
		What: string(e.What), Job: e.JobID, Queue: e.Queue, Kind: e.Kind, Owner: e.Owner,
		Shown: func() string { return strings.Join([]string{string(e.What), e.Queue, e.Kind, e.Owner, e.Note}, " ") },
	}
}

// Empty tells whether everything is chosen.
func (s *Sift) Empty() bool {
	return len(s.Whats)+len(s.Jobs)+len(s.Queues)+len(s.Kinds)+len(s.Workers)+len(s.Words)+len(s.Not) == 0
}

// Lets tells whether a thing is chosen.
func (s *Sift) Lets(t *Thing) bool {
	switch {
	case len(s.Whats) > 0 && !slices.Contains(s.Whats, t.What) && (t.Also == "" || !slices.Contains(s.Whats, t.Also)),
		len(s.Jobs) > 0 && !slices.Contains(s.Jobs, t.Job),
		len(s.Queues) > 0 && !among(s.Queues, t.Queue),
		len(s.Kinds) > 0 && !among(s.Kinds, t.Kind),
		len(s.Workers) > 0 && !s.worker(t):
		return false
	case slices.ContainsFunc(s.Not, func(not Sift) bool { return not.Lets(t) }):
		return false
	case len(s.Words) == 0:
		return true
	}
	shown := strings.ToLower(t.Shown())
	for _, word := range s.Words {
		if !strings.Contains(shown, word) {
			return false
		}
	}
	return true
}

func among(names []Name, text string) bool {
	for _, name := range names {
		if name.is(text) {
			return true
		}
	}
	return false
}

func (n Name) is(text string) bool {
	if n.Begins {
		return strings.HasPrefix(text, n.Text)
	}
	return text == n.Text
}

// worker goes by its name (w3), by its name and host (w3@shop1), or by the owner
// that it writes.
func (s *Sift) worker(t *Thing) bool {
	if t.Worker != "" && among(s.Workers, t.Worker) {
		return true
	}
	if t.Owner == "" {
		return false
	}
	if token, ok := queue.ParseToken(t.Owner); ok {
		host, _, _ := strings.Cut(token.Process, ":")
		if among(s.Workers, token.Worker) || among(s.Workers, token.Worker+"@"+host) {
			return true
		}
	}
	return among(s.Workers, t.Owner)
}
