package scenario

import (
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// cause is what of an event about the database is for its operators: the driver's error,
// with addresses and paths. The story says why the database is away.
var cause = regexp.MustCompile(`(fail|the lease will run out|could not be written in time): (?s:.*)`)

// troubles counts what fails in the workers' processes while they cannot reach their database:
// it is told when the first of it does, and when all of it works again.
type troubles struct{ failing atomic.Int64 }

// inStory is an event of the runtime in the words of the story, and whether it is told.
func (t *troubles) inStory(e workers.Event) (text string, told bool) {
	text = e.Text
	switch e.What {
	case workers.DBTrouble, workers.TrustEnded:
		switch {
		case strings.Contains(text, " still fail: "):
			return "", false
		case strings.Contains(text, " fail: ") && t.failing.Add(1) > 1:
			return "", false
		case strings.HasSuffix(text, " work again") && t.failing.Add(-1) > 0:
			return "", false
		}
		text = cause.ReplaceAllString(text, "$1")
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
