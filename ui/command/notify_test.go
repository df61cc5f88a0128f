package command

import (
	"testing"

	"github.com/leasetop/leasetop/ui"
)

func TestNotificationsAreWhatTheTerminalUnderstands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        ui.Notification
	}{
		{"TERM", "rxvt-unicode-256color", ui.OSC777},
		{"TERM", "foot", ui.OSC777},
		{"VTE_VERSION", "7600", ui.OSC777},
		{"TERM", "xterm-kitty", ui.OSC9},
		{"TERM", "xterm-256color", ui.OSC9},
		{"TERM_PROGRAM", "iTerm.app", ui.OSC9},
	} {
		if got := notificationOf(func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}); got != c.want {
			t.Errorf("%s=%s: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func TestNotifyTakesAFormOrNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ui.Notification{"osc9": ui.OSC9, "osc777": ui.OSC777, "": "", "bell": ""} {
		var got ui.Notification
		err := notify{&got}.Set(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("--notify=%s: %q, %v", text, got, err)
		}
	}
}
