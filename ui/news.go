package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// news is how a command that takes a while tells how far it is: the newest message, in the
// place of one that nobody has seen yet. It is closed when the command ends.
type news chan tea.Msg

func newNews() news { return make(news, 1) }

// tell leaves a message. It never waits. One command at a time tells.
func (n news) tell(m tea.Msg) {
	select {
	case <-n:
	default:
	}
	n <- m
}

// hear waits for the next message.
func (a *app) hear(n news) tea.Cmd {
	return a.ioUnder(a.ctx, func(ctx context.Context) tea.Msg {
		select {
		case m := <-n: // nil when it is closed
			return m
		case <-ctx.Done():
			return nil
		}
	})
}
