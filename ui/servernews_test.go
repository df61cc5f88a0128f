package ui

import "testing"

func TestDeathOfThePrivateServerIsShownUntilItIsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 100, 30)
	down := serverNewsMsg{Text: "the private server died and cannot be started: the disk is full, so free some space; next attempt in 2s", Down: true}
	s.send(down)
	s.pass(2 * flashLong)
	s.sees("! the private server died and cannot be started: the disk is full")
	s.send(serverNewsMsg{Text: "the private server had died and was started again"})
	s.sees("! the private server had died and was started again")
	s.seesNot("cannot be started")
	s.pass(2 * flashLong)
	s.seesNot("private server")
}

func TestNewsOfTheServerAreAwaitedOneByOne(t *testing.T) {
	t.Parallel()
	news := make(chan ServerNews, 2)
	a := newApp(t.Context(), Config{Feed: newWorld(), Jobs: newWorld(), Server: news})
	news <- ServerNews{Text: "first", Down: true}
	news <- ServerNews{Text: "second"}
	first := a.awaitServer()().(serverNewsMsg)
	if second := a.serverTold(first)().(serverNewsMsg); first.Text != "first" || second.Text != "second" {
		t.Errorf("the news were %q, then %q", first.Text, second.Text)
	}
}
