package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// serverNewsMsg brings news of the private server.
type serverNewsMsg ServerNews

// awaitServer waits for the next news of the private server.
func (a *app) awaitServer() tea.Cmd {
	if a.cfg.Server == nil {
		return nil
	}
	return func() tea.Msg { return nextNews(a.ctx, a.cfg.Server) }
}

func nextNews(ctx context.Context, news <-chan ServerNews) tea.Msg {
	select {
	case n, ok := <-news:
		if ok {
			return serverNewsMsg(n)
		}
	case <-ctx.Done():
	}
	return nil
}

// serverTold shows the news: in the banner while the server is down, else as a flash.
func (a *app) serverTold(n serverNewsMsg) tea.Cmd {
	a.frame = ""
	a.pic.serverDown = ""
	if n.Down {
		a.pic.serverDown = n.Text
	} else {
		a.flash.Say(caution, n.Text, a.now())
	}
	return a.awaitServer()
}
