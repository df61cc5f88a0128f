package scenario

import (
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// cause is what of an event about the database is for its operators: the driver's error,
// with addresses and paths. The story says why the database is away.
var cause = regexp.MustCompile(`(fail|the lease will run out|could not be written in time): (?s:.*)`)

// endless is a lease that nobody lives to see the end of.
var endless = regexp.MustCompile(`lease runs out in \d+ years`)

// troubles are what fails in the workers' processes while they cannot reach their database:
// it is told when the first of it does, and when all of it works again.
type troubles struct {
	mu  sync.Mutex
	now map[trouble]bool
}

// trouble is an operation that fails in a crew or a process.
type trouble struct {
	of        any
	operation string
}

// begins notes that an operation fails, and reports whether it is the only one.
func (t *troubles) begins(of any, operation string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now == nil {
		t.now = map[trouble]bool{}
	}
	t.now[trouble{of, operation}] = true
	return len(t.now) == 1
}

// ends notes that an operation fails no longer, and reports whether none does.
func (t *troubles) ends(of any, operation string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, trouble{of, operation})
	return len(t.now) == 0
}

// forget notes that a process is gone, and with it whatever failed there.
func (t *troubles) forget(of any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.now, func(one trouble, _ bool) bool { return one.of == of })
}

// inStory is an event of the runtime in the words of the story, and whether it is told. of is
// the crew or process it is from.
func (t *troubles) inStory(of any, e workers.Event) (text string, told bool) {
	text = e.Text
	switch e.What {
	case workers.DBTrouble, workers.TrustEnded:
		if strings.Contains(text, " still fail: ") {
			return "", false
		}
		if operation, _, fails := strings.Cut(text, " fail: "); fails && !t.begins(of, operation) {
			return "", false
		}
		if operation, works := strings.CutSuffix(text, " work again"); works && !t.ends(of, operation) {
			return "", false
		}
		text = cause.ReplaceAllString(text, "$1")
	case workers.Killed:
		text = endless.ReplaceAllString(text, "its lease never runs out")
	case workers.ReapedBack, workers.ReapedDead:
		text = strings.ReplaceAll(text, e.Owner, NameOf(e.Owner))
	case workers.StaleFenced:
		if at := strings.LastIndexByte(text, ' ') + 1; at > 0 {
			text = text[:at] + ShortToken(text[at:])
		}
	}
	return text, true
}

// ShortToken is a fencing token without its process: "w1#3".
func ShortToken(owner string) string {
	if token, ok := queue.ParseToken(owner); ok {
		token.Process = ""
		return strings.TrimPrefix(token.String(), "/")
	}
	return owner
}
