package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestWhatIsCopiedIsTheTrueValue(t *testing.T) {
	t.Parallel()
	hostileText := "\x1b]52;c;cm0gLXJmIC8=\x07 \u202egnp 1e400"
	j := sampleJob(88007)
	j.LastError, j.IdempotencyKey = hostileText, hostileText
	j.Payload = json.RawMessage(`{"n": [1970670598291982290, 1e400, -0], "t": "` + "\u202egnp" + `"}`)
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"y"}, "88007"},
		{[]string{"Y", "p"}, string(j.Payload)},
		{[]string{"Y", "enter"}, string(j.Payload)},
		{[]string{"Y", "e"}, hostileText},
		{[]string{"Y", "s"}, "select * from leasetop.jobs where id = 88007;"},
		{[]string{"Y", "c"}, "leasetop show 88007"},
		{[]string{"Y", "j", "j", "j", "j", "enter"}, hostileText},
	} {
		s := atJob(t, newWorld(), j, 120, 36)
		for _, k := range c.keys {
			s.later(k)
		}
		if s.clipboard != c.want {
			t.Errorf("%v copies %q, want %q", c.keys, s.clipboard, c.want)
		}
		s.sees("✓ sent to the terminal's clipboard: ")
	}
}

func TestSecretsAreCopiedOnlyWhenTheyAreRevealed(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"p", "e"} {
		s := atJob(t, newWorld(), secretive(88007), 120, 36)
		s.press("Y")
		s.sees("Secrets are copied as ••••••")
		s.later(what)
		if strings.Contains(s.clipboard, "s3cret") || !strings.Contains(s.clipboard, "••••••") {
			t.Errorf("copied %s", s.clipboard)
		}
		s.sees("secrets masked")
		s.press("X")
		s.press("Y")
		s.seesNot("Secrets are copied as")
		s.later(what)
		if !strings.Contains(s.clipboard, "s3cret") {
			t.Errorf("revealed, copied %s", s.clipboard)
		}
	}
}

// A payload that is shown in part is copied whole, as far as a terminal takes it.
func TestLargePayloadsAreCopiedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		characters int
		copied     bool
		says       string
	}{
		{20_000, true, "✓ sent to the terminal's clipboard: payload, 20,013 characters"},
		{200_000, true, "! sent to the terminal's clipboard: payload, 200,013 characters; many terminals refuse that much"},
		{2_000_000, false, "! the payload is too large to copy: leasetop show 88007 -o json > FILE has it whole"},
	} {
		j := sampleJob(88007)
		j.Payload = json.RawMessage(`{"blob": "x` + strings.Repeat("x", c.characters) + `"}`)
		s := atJob(t, newWorld(), j, 120, 36)
		s.press("Y")
		s.later("p")
		s.sees(c.says)
		if want := string(j.Payload); c.copied && s.clipboard != want || !c.copied && s.clipboard != "" {
			t.Errorf("%d characters: %d copied", c.characters, len(s.clipboard))
		}
	}
}

func TestWhatThereIsNotIsNotCopied(t *testing.T) {
	t.Parallel()
	j := sampleJob(88007)
	j.LastError, j.Status = "", queue.Completed
	s := atJob(t, newWorld(), j, 120, 36)
	s.press("Y")
	s.later("e")
	s.sees("there is no error to copy")
}

// tmux with its defaults passes no copy on, and says nothing.
func TestCopyInTmuxNamesItsSetting(t *testing.T) {
	t.Parallel()
	s := atJob(t, newWorld(), sampleJob(88007), 120, 36)
	s.press("y")
	s.sees("✓ sent to the terminal's clipboard: job id 88007")
	s.seesNot("tmux")
	s.app.cfg.Tmux = true
	s.press("y")
	s.sees("✓ sent to the terminal's clipboard: job id 88007 (tmux wants set-clipboard on)")
}
