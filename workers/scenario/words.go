package scenario

import (
	"regexp"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// cause is what of an event about the database is for its operators: the driver's error,
// with addresses and paths. The story says why the database is away.
var cause = regexp.MustCompile(`(fail|the lease will run out|could not be written in time): (?s:.*)`)

// inStory is an event of the runtime in the words of the story, and whether it is told:
// who held a job by name, and of each outage that something fails, once.
func inStory(e workers.Event) (text string, told bool) {
	text = e.Text
	switch e.What {
	case workers.DBTrouble, workers.TrustEnded:
		if strings.Contains(text, " still fail: ") {
			return "", false
		}
		text = cause.ReplaceAllString(text, "$1")
	case workers.ReapedBack, workers.ReapedDead:
		text = strings.ReplaceAll(text, e.Owner, nameOf(e.Owner))
	case workers.StaleFenced:
		if at := strings.LastIndexByte(text, ' ') + 1; at > 0 {
			text = text[:at] + shortToken(text[at:])
		}
	}
	return text, true
}

// shortToken is a fencing token without its process: "w1#3".
func shortToken(owner string) string {
	if token, ok := queue.ParseToken(owner); ok {
		token.Process = ""
		return strings.TrimPrefix(token.String(), "/")
	}
	return owner
}
