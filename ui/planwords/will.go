// Package planwords says of redrive plans, in words, what they will do, where they stand
// and what came of them: the same on the dashboard and on the command line.
package planwords

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Will says what happens when a plan for n jobs is started.
func Will(p queue.NewPlan, n int) string {
	canary := p.Canary
	if canary <= 0 || canary >= n {
		return Count(int64(n), "job") + ", " + atPace(n, p.Pace) + stops(p.StopAt) + "."
	}
	ended := "all of them have"
	if canary == 1 {
		ended = "it has"
	}
	text := fmt.Sprintf("%s first. When %s ended", Thousands(int64(canary)), ended)
	switch {
	case p.StopAt == nil:
		text += ", "
	case *p.StopAt == 0:
		text += ", and none died again, "
	default:
		text += fmt.Sprintf(", and at most %d %% died again, ", *p.StopAt)
	}
	if p.Wait {
		text += "it waits for somebody to say go on; then "
	} else {
		text += "it goes on by itself with "
	}
	return text + Count(int64(n-canary), "job") + ", " + atPace(n-canary, p.Pace) + stops(p.StopAt) + "."
}

// atPace says how fast so many jobs go.
func atPace(n int, pace float64) string {
	if pace <= 0 {
		return "as fast as the database takes them"
	}
	took := time.Duration(min(float64(n)/pace*float64(time.Second), math.MaxInt64/2))
	if took < time.Second {
		return Pace(pace) + " a second: within a second"
	}
	return Pace(pace) + " a second: " + About(took)
}

func stops(percent *int) string {
	when := "one of them is"
	switch {
	case percent == nil:
		return ". It does not stop when they die again"
	case *percent > 0:
		when = fmt.Sprintf("more than %d %% of those that ended are", *percent)
	}
	return ". It stops by itself when " + when + " dead again, and begins with a canary again when somebody has it go on"
}

// How says in a few words how careful a plan is.
func How(p queue.Plan) string {
	var words []string
	switch canary := int64(p.Canary); {
	case canary > 0 && canary < p.Total && p.Wait:
		words = append(words, Thousands(canary)+" first, then it waits for a go")
	case canary > 0 && canary < p.Total:
		words = append(words, Thousands(canary)+" first, then it goes on by itself")
	}
	if p.CanaryAfter > 0 {
		words = append(words, "a canary again after each stop")
	}
	if p.Pace > 0 {
		words = append(words, Pace(p.Pace)+" a second")
	} else {
		words = append(words, "as fast as it goes")
	}
	switch {
	case p.StopAt == nil:
	case *p.StopAt == 0:
		words = append(words, "stops when one is dead again")
	default:
		words = append(words, fmt.Sprintf("stops above %d %% dead again", *p.StopAt))
	}
	return strings.Join(words, " · ")
}

// GoesOn says how a plan goes on that was told to.
func GoesOn(p queue.Plan) string {
	if p.CanaryLeft == 0 || p.CanaryAfter == 0 {
		return "goes on"
	}
	return fmt.Sprintf("goes on with a canary again, since it had stopped: %s, and when all of these have ended it %s",
		Count(p.CanaryLeft, "job"), pick(p.Wait, "waits for somebody to say go on", "goes on by itself"))
}

// Pace writes a number of jobs a second as it was typed: 50, 0.5.
func Pace(pace float64) string {
	if pace >= 1000 && pace == math.Trunc(pace) {
		return Thousands(int64(pace))
	}
	return strconv.FormatFloat(pace, 'f', -1, 64)
}

// About writes how long something takes that is not known to the second: about 13 min.
func About(d time.Duration) string {
	switch s := int64(d.Round(time.Second) / time.Second); {
	case s <= 1:
		return "about a second"
	case s < 90:
		return fmt.Sprintf("about %d s", s)
	case s < 90*60:
		return fmt.Sprintf("about %d min", (s+30)/60)
	case s < 48*3600:
		return fmt.Sprintf("about %d h", (s+1800)/3600)
	default:
		return fmt.Sprintf("about %s days", Thousands((s+43200)/86400))
	}
}

// Count writes "1 job", "40,112 jobs".
func Count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + one + "s"
}

// Thousands writes n, which is not negative, with separators: 1,204,311.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
