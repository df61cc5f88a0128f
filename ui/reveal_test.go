package ui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// secretive is a job with secrets wherever one can be.
func secretive(id int64) *queue.Job {
	j := sampleJob(id)
	j.Payload = json.RawMessage(`{"to": "ann", "password": "s3cret-one", "deep": [{"api_key": "s3cret-two", "url": "postgres://app:s3cret-three@db/x"}]}`)
	j.LastError = "login with password=s3cret-four failed"
	for i := range j.Errors {
		j.Errors[i].Error = j.LastError
	}
	return j
}

func TestSecretsAreMaskedUntilTheyAreRevealedAndLogged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := atJob(t, w, secretive(88007), 160, 50)
	s.sees("8 secrets masked · X reveals", `"password": ••••••`, `"api_key": ••••••`, "postgres://app:••••••@db/x", "password=•••••• failed")
	s.seesNot("s3cret")
	w.logDown = errors.New("permission denied for table operator_log")
	s.press("X")
	s.sees("not revealed: permission denied")
	s.seesNot("s3cret")
	w.logDown = nil
	s.press("X")
	if a := s.entered(); a.What != "reveal" || a.By != "ann@shop1" || len(a.IDs) != 1 || a.IDs[0] != 88007 {
		t.Errorf("entered: %+v", a)
	}
	s.sees("8 secrets shown · X hides", "s3cret-one", "s3cret-two", "s3cret-three", "s3cret-four")
	s.press("X")
	s.sees("masked")
	s.seesNot("s3cret")
}

func TestSecretsAreHiddenAgainOnLeaving(t *testing.T) {
	t.Parallel()
	for _, away := range [][]string{{"L", "esc"}, {"esc", "3", "enter"}} {
		s := newStage(t, newWorld(), 120, 36)
		id := int64(88007)
		s.has(secretive(id))
		s.press("3", "tab", "enter")
		s.press("X")
		s.sees("s3cret-one")
		s.press(away...)
		s.sees("JOB 88007", "masked")
		s.seesNot("s3cret")
	}
}

// A reveal that is entered after its page was left shows nothing on another.
func TestRevealOfAJobThatWasLeftShowsNothing(t *testing.T) {
	t.Parallel()
	s := atJob(t, newWorld(), secretive(88007), 120, 36)
	s.send(revealedMsg{id: 88008})
	s.seesNot("s3cret")
	s.press("L")
	s.send(revealedMsg{id: 88007})
	s.press("esc")
	s.seesNot("s3cret")
}

func TestRevealIsNoPartOfAPaste(t *testing.T) {
	t.Parallel()
	s := atJob(t, newWorld(), secretive(88007), 120, 36)
	s.press("X", "j")
	s.sees("nothing was done")
	s.seesNot("s3cret")
}

// What is masked has one width, whatever the secret is.
func TestMaskedScreensOfShortAndLongSecretsAreTheSame(t *testing.T) {
	t.Parallel()
	screen := func(secret string) string {
		j := sampleJob(88007)
		j.Payload = json.RawMessage(`{"password": "` + secret + `", "to": "ann"}`)
		j.LastError = "password=" + secret + " refused"
		s := atJob(t, newWorld(), j, 120, 36)
		lines := strings.Split(s.screen().Text(), "\n")
		for i, line := range lines {
			if strings.Contains(line, "PAYLOAD") { // it says how many characters there are
				lines[i] = ""
			}
		}
		return strings.Join(lines, "\n")
	}
	if a, b := screen("x"), screen(strings.Repeat("long", 50)); a != b {
		t.Errorf("one\n%s\nthe other\n%s", a, b)
	}
}

func TestListsMaskSecretsInErrors(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range w.jobs {
		w.jobs[i].LastError = "login with password=s3cret failed"
	}
	for i := range w.state.Dead.Latest {
		w.state.Dead.Latest[i].LastError = "login with password=s3cret failed"
	}
	s := newStage(t, w, 120, 36)
	for _, keys := range [][]string{{"1"}, {"2"}, {"3"}, {"tab"}, {"r"}} {
		s.later(keys...)
		s.seesNot("s3cret")
	}
}

// What was typed into a filter or given as a reason is seen by others too: the log keeps
// it as it is, the screens mask its secrets. The line where it is typed does not.
func TestFiltersAndReasonsAreMaskedWhereOthersReadThem(t *testing.T) {
	t.Parallel()
	const filter, reason = `payload.password:hunter2`, `the password=hunter2 of postgres://app:hunter2@db`
	for _, size := range [][2]int{{160, 40}, {80, 24}} {
		w := withPlan(newWorld(), func(p *queue.Plan) { p.Filter, p.Reason = filter, reason })
		w.entries = []queue.Act{{ID: 9, At: noon, By: "ann@shop1", What: "discard", Filter: filter, Reason: reason, Error: reason, Asked: 1, Ended: &noon}}
		s := newStage(t, w, size[0], size[1])
		s.press("3")
		s.opens(14)
		s.sees("payload.password:••••••")
		s.seesNot("hunter2")
		s.press("esc", "esc")
		s.run(s.app.plansKey().do())
		s.pull()
		s.sees("PLANS")
		s.seesNot("hunter2")
		s.press("esc", "L")
		s.sees("ENTRY 9", "payload.password:••••••")
		s.seesNot("hunter2")

		s = newStage(t, w, size[0], size[1])
		s.press("3", "/")
		s.app.pasted(filter)
		s.sees(filter)
		s.later("enter")
		s.sees("payload.password:••••••")
		s.seesNot("hunter2")
	}
}

// Wherever an error or a reason is drawn, its secrets are masked.
func TestNoScreenShowsASecretOfAnError(t *testing.T) {
	t.Parallel()
	const says = "no relay for password=s3cret-five"
	w := newWorld()
	for i := range w.state.Dead.Latest {
		w.state.Dead.Latest[i].LastError = says
	}
	for i := range w.jobs {
		w.jobs[i].LastError = says
		for k := range w.jobs[i].Errors {
			w.jobs[i].Errors[k].Error = says
		}
	}
	for i := range w.state.Events {
		w.state.Events[i].Note = says
	}
	for i := range w.entries {
		if w.entries[i].Error != "" {
			w.entries[i].Error = says
		}
	}
	for i := range w.crew {
		w.crew[i].LastError = says
	}
	withPlan(w, nil)
	for _, jobs := range w.plans.jobs {
		for i := range jobs {
			if jobs[i].Reason != "" {
				jobs[i].Reason = says
			}
		}
	}
	s := newStage(t, w, 160, 50)
	drawn := false
	everyScreen(s, func() {
		if strings.Contains(s.screen().Text(), "s3cret") {
			t.Errorf("%s shows it:\n%s", s.front(), s.screen().Text())
		}
		drawn = drawn || strings.Contains(s.screen().Text(), "password=••••••")
	})
	if !drawn {
		t.Error("no screen drew the error")
	}
}
