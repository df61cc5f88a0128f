package command

import (
	"errors"
	"os"
	"strings"

	"github.com/leasetop/leasetop/ui"
)

// notify is the flag --notify: whether, and how, the terminal is asked for a notification.
type notify struct{ to *ui.Notification }

func (n notify) Type() string { return "auto|osc9|osc777" }

func (n notify) String() string {
	if n.to == nil {
		return ""
	}
	return string(*n.to)
}

func (n notify) Set(text string) error {
	switch form := ui.Notification(text); {
	case form == ui.OSC9, form == ui.OSC777:
		*n.to = form
	case text == "auto":
		*n.to = notificationOf(os.Getenv)
	default:
		return errors.New("use auto, osc9 or osc777")
	}
	return nil
}

// notificationOf is what the terminal understands, as far as it says what it is: no
// terminal answers that question.
func notificationOf(env func(string) string) ui.Notification {
	term := env("TERM")
	if strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot") || env("VTE_VERSION") != "" {
		return ui.OSC777
	}
	return ui.OSC9
}
