package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// newest is a list that is read from its newest entry on: a page, the next when the
// cursor comes near the end, and what is loaded again after a while.
type newest[T any] struct {
	page, most int // rows of a page, and of all that is loaded
	again      time.Duration
	id         func(*T) int64
	fetch      func(ctx context.Context, before int64, limit int) ([]T, error)

	all  []T
	list selection[int64]

	read  bool
	busy  bool
	end   bool      // all there are have been read
	asked time.Time // local clock
	at    time.Time // when the newest were read
	err   error
}

// newestMsg is an answer: the newest rows, or those before another.
type newestMsg[T any] struct {
	before int64
	limit  int
	all    []T
	at     time.Time
	err    error
}

// Move moves the cursor.
func (n *newest[T]) Move(m motion) { n.list.Move(m) }

// Cycle does nothing: the list is alone.
func (n *newest[T]) Cycle(int) {}

// Load returns the command that reads what the list lacks.
func (n *newest[T]) Load(a *app) tea.Cmd {
	now := a.now()
	if n.busy || a.frozen && n.read {
		return nil
	}
	before, limit := int64(0), n.page
	near := n.list.at+n.list.height+n.page/4 > len(n.all)
	switch more := n.read && n.err == nil && near && !n.end && len(n.all) < n.most; {
	case more:
		before = n.id(&n.all[len(n.all)-1])
	case !n.asked.IsZero() && now.Sub(n.asked) < n.again:
		return nil
	default:
		limit = min(max(len(n.all), n.page), n.most)
	}
	n.busy, n.asked = true, now
	return a.io(func(ctx context.Context) tea.Msg {
		rows, err := n.fetch(ctx, before, limit)
		return newestMsg[T]{before, limit, rows, now, err}
	})
}

// Took takes an answer.
func (n *newest[T]) Took(m newestMsg[T]) {
	n.busy, n.err = false, m.err
	if m.err != nil {
		return
	}
	if m.before == 0 {
		n.all, n.at = m.all, m.at
	} else {
		n.all = append(slices.Clip(n.all), m.all...)
	}
	n.read, n.end = true, len(m.all) < m.limit
	keys := make([]int64, len(n.all))
	for i := range n.all {
		keys[i] = n.id(&n.all[i])
	}
	n.list.SetKeys(keys)
}

// Row returns the row under the cursor.
func (n *newest[T]) Row() (*T, bool) {
	if n.list.at < len(n.all) {
		return &n.all[n.list.at], true
	}
	return nil, false
}
