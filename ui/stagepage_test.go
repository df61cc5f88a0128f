package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/ui/term"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/stories"
)

// TestPlaysAreDrawn compares plays with their drawings.
func TestPlaysAreDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}, {200, 50}} {
		for name, pictures := range map[string][]scenario.Picture{
			"setting the stage": {{Version: 2, Name: "crash", Title: "A worker crashes in mid-job", Shows: "A job is never lost with its worker.", State: scenario.SettingUp, Began: noon, Seed: 4711, Steps: make([]scenario.StepPicture, 3)}},
			"waiting":           {crashPicture(scenario.Waiting, 1), crashPicture(scenario.Waiting, 1)},
			"autoplay":          {func() scenario.Picture { p := crashPicture(scenario.Waiting, 1); p.Auto = true; return p }()},
			"seen":              append(crashes(noon), seenPicture()),
			"crashed":           crashes(noon),
			"race":              {racePicture()},
			"plot":              {plotPicture()},
			"passed":            append(crashes(noon), passedPicture()),
			"failed":            {failedPicture()},
			"stopped":           {cancelledPicture()},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s, _ := theatreAt(t, "", size[0], size[1])
				s.press("enter")
				s.performs(pictures, 250*time.Millisecond)
				term.Golden(t, s.screen())
			})
		}
	}
	t.Run("without colour", func(t *testing.T) {
		t.Parallel()
		s, _ := theatreAt(t, "", 80, 24)
		s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
		s.press("enter")
		s.performs(crashes(noon), 250*time.Millisecond)
		term.Golden(t, s.screen())
	})
}

// Keys go to the play as long as they mean something, and say why when they do not.
func TestKeysOfAPlay(t *testing.T) {
	t.Parallel()
	s, h := theatreAt(t, "", 120, 36)
	asked := func(want string) {
		t.Helper()
		if got := strings.Join(h.asked, "; "); got != want {
			t.Errorf("it was asked: %s, not %s", got, want)
		}
		h.asked = nil
	}
	s.press("enter")
	h.asked = nil
	s.press("space")
	asked("next")
	s.stands(crashPicture(scenario.Playing, 1))
	s.press("space")
	s.sees("next: step 2 goes on")
	s.press("a")
	asked("auto true")
	pic := crashPicture(scenario.Waiting, 1)
	pic.Auto = true
	s.stands(pic)
	s.press("a")
	asked("auto false")
	s.press("r")
	asked("")
	s.press("S")
	asked("stop")
	pic.State = scenario.CleaningUp
	s.stands(pic)
	s.press("S")
	s.sees("stop: it is ending")
	asked("")
	s.stands(failedPicture())
	s.sees("FAILED", "Step 2 promised: the lease runs out, the job goes back to pending", "it is processing")
	h.last.end()
	s.press("r")
	asked("play crash by 4711")
	s.stands(passedPicture())
	h.last.end()
	s.press("enter")
	asked("play crash by 0")
}

// A picture that is frozen stays, while the play goes on.
func TestFrozenPictureOfAPlay(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter", "p")
	s.stands(crashPicture(scenario.Waiting, 1))
	s.sees("Two workers wait for work.")
	s.press("p")
	s.sees("We kill w1 in the middle of its job.")
}

// Nothing is drawn anew while nothing changes but when it was looked at.
func TestNothingIsDrawnWhileNothingChanges(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	s.stands(crashPicture(scenario.Waiting, 1))
	s.screen()
	pic := s.app.plays.now.latest
	pic.Looked = pic.Looked.Add(time.Second)
	s.send(playMsg{s.app.plays.now, pic})
	if s.app.frame == "" {
		t.Error("a look that found nothing new has the screen drawn")
	}
	pic.Version++
	s.send(playMsg{s.app.plays.now, pic})
	if s.app.frame != "" {
		t.Error("a new picture does not have it drawn")
	}
}

// What was read of the world long ago says so.
func TestOldPictureOfAWorldSaysItsAge(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	s.stands(crashPicture(scenario.Playing, 1))
	s.pass(2 * time.Second)
	s.seesNot("stale:")
	s.pass(5 * time.Second)
	s.sees("stale: 7s old")
	s.stands(passedPicture())
	s.pass(time.Minute)
	s.seesNot("stale:")
}

// The steps at hand are in sight however many there are and however small the window.
func TestStepAtHandIsInSight(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for at := range 12 {
			pic := crashPicture(scenario.Waiting, 0)
			pic.Steps = nil
			for i := range 12 {
				pic.Steps = append(pic.Steps, scenario.StepPicture{Say: "Something is done.", Assertions: []scenario.AssertionPicture{{Text: fmt.Sprintf("this is seen in step %d.", i), Within: time.Second}, {Text: fmt.Sprintf("and that in step %d.", i), Within: time.Second}}})
			}
			pic.Step = at
			s, _ := theatreAt(t, "", size[0], size[1])
			s.press("enter")
			s.stands(pic)
			s.sees(fmt.Sprintf("this is seen in step %d.", at), fmt.Sprintf("and that in step %d.", at))
		}
	}
}

// Narrations of every story fit a small window, in three lines.
func TestNarrationsFit(t *testing.T) {
	t.Parallel()
	for _, story := range stories.All() {
		texts := []string{story.Shows}
		for _, step := range story.Steps {
			texts = append(texts, step.Say)
		}
		for _, text := range texts {
			if n := len(wrap(text, 76)); n > 3 {
				t.Errorf("%s: %d lines of 76: %s", story.Name, n, text)
			}
		}
	}
}

// TestHostilePlayDoesNothing shows a play in which every text is a stranger's.
func TestHostilePlayDoesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		t.Run(fmt.Sprintf("%.12q", text), func(t *testing.T) {
			t.Parallel()
			for _, size := range [][2]int{{120, 36}, {80, 24}} {
				s, _ := theatreAt(t, text, size[0], size[1])
				s.app.clustered = true
				harmless(t, s)
				s.press("enter")
				harmless(t, s)
				s.later("y")
				for _, pic := range []scenario.Picture{crashes(noon)[12], racePicture(), plotPicture(), failedPicture()} {
					poisonPicture(&pic, text)
					s.now = s.now.Add(time.Second)
					s.stands(pic)
					s.send(secondMsg{})
					harmless(t, s)
					s.press("esc")
					harmless(t, s)
					s.press("1")
					harmless(t, s)
					s.press("5")
					if pic.Ended.IsZero() {
						harmless(t, s)
					}
				}
			}
		})
	}
}

// poisonPicture puts a text wherever a play may have one.
func poisonPicture(p *scenario.Picture, text string) {
	p.Name, p.Title, p.Shows, p.Err, p.Where = text, text, text, text, text
	p.Steps, p.Measures = slices.Clone(p.Steps), slices.Clone(p.Measures)
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Name, s.Say, s.Assertions = text, text, slices.Clone(s.Assertions)
		for k := range s.Assertions {
			s.Assertions[k].Text, s.Assertions[k].Seen = text, text
		}
	}
	for i := range p.Measures {
		p.Measures[i].Name, p.Measures[i].Text, p.Measures[i].Unit = text, text, text
	}
	for i := range p.Depths {
		p.Depths[i].Queue = text
	}
	for i := range p.Leases {
		p.Leases[i].Worker = text
	}
	for i := range p.Workers {
		p.Workers[i].Name, p.Workers[i].State = text, text
	}
	for i := range p.Bars {
		p.Bars[i].Name, p.Bars[i].Unit, p.Bars[i].Note = text, text, text
	}
	for i := range p.Plots {
		p.Plots[i].Name, p.Plots[i].Unit = text, text
		for k := range p.Plots[i].Marks {
			p.Plots[i].Marks[k].Text = text
		}
	}
	for i := range p.Events {
		p.Events[i].Worker, p.Events[i].Text = text, text
	}
}

// What stands before the lanes is explained as the marks in them are.
func TestStatesOfWorkersAreExplained(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	pic := crashPicture(scenario.Playing, 1)
	pic.Workers = []scenario.Worker{{Name: "w1", State: string(workers.Stopped), Slots: 1}, {Name: "w2", State: string(workers.Idle), Slots: 2}, {Name: "w3", State: string(workers.Busy), Slots: 1}}
	pic.Leases = []scenario.Lease{{Job: 1, Worker: "w2", Attempt: 1}, {Job: 2, Worker: "w2", Attempt: 1}, {Job: 3, Worker: "w1", Attempt: 1}, {Job: 4, Worker: "w3", Attempt: 1}}
	s.performs([]scenario.Picture{pic, pic, pic}, 250*time.Millisecond)
	s.sees("– ended", "○ idle", "● busy", "2 its second slot")
}

// A worker that is cut off is not shown as one that has nothing to do.
func TestWorkerThatIsCutOffIsNotIdle(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s, _ := theatreAt(t, "", size[0], size[1])
		s.press("enter")
		pic := crashPicture(scenario.Playing, 1)
		for i := range pic.Workers {
			pic.Workers[i].State = "partitioned"
		}
		pic.Leases = []scenario.Lease{{Job: 1, Worker: "w1", Attempt: 1, Expires: s.now.Add(time.Hour)}}
		s.performs([]scenario.Picture{pic, pic, pic}, 250*time.Millisecond)
		s.sees("w1   ≠", "w2   ≠", "cut off")
		s.seesNot("○")
	}
}

// Steps have short names in the list of what is asserted; where there is none, the
// narration stands in.
func TestStepsAreListedByTheirNames(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	s.stands(crashPicture(scenario.Playing, 1))
	s.sees("1  Two jobs held", "2  The worker dies", "3  Now w2 has its own job done")
	for _, story := range stories.All() {
		for i, step := range story.Steps {
			if n := len(strings.Fields(step.Name)); n == 0 || safe.Width(step.Name) > 30 {
				t.Errorf("%s: step %d is named %q, which is no short name", story.Name, i+1, step.Name)
			}
		}
	}
}
