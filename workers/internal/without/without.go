// Package without takes protections out, for tests which show that each of them is
// needed: with it taken out, the harm that it prevents happens.
//
// What is taken out is carried by a context, and whoever has a protection asks the
// context it works under. The folder is internal, so that only packages below workers/
// can name a protection, and only their tests take any out.
package without

import (
	"context"
	"slices"
)

// Protection is one of the things that keep a job from being lost or done twice.
type Protection string

// The protections. Package workers honours the first three, looking at the context of
// Pool.Start; package workers/scenario and its stories the rest.
const (
	// Fencing makes every claim's token different from all others. Without it all claims
	// of all pools write the same owner, so that a stale owner's late write matches.
	Fencing Protection = "fencing"
	// Reclaim takes back leases that ran out. Without it a pool's reaper takes back none.
	Reclaim Protection = "reclaim"
	// Trust stops a handler before its lease ends. Without it no lease's trust ends.
	Trust Protection = "trust"
	// SkipLocked has a claim pass over rows that another one has locked.
	SkipLocked Protection = "skip locked"
	// Backoff has a job that failed wait before it is tried again.
	Backoff Protection = "backoff"
	// Mark has a claim begin where the last ones found work.
	Mark Protection = "mark"
	// Canary has a redrive try a few jobs before the rest.
	Canary Protection = "canary"
)

type key struct{}

// With is a context under which these protections are taken out, besides those that
// ctx lacks already.
func With(ctx context.Context, p ...Protection) context.Context {
	before, _ := ctx.Value(key{}).([]Protection)
	return context.WithValue(ctx, key{}, slices.Concat(before, p))
}

// Lacks reports whether a protection was taken out.
func Lacks(ctx context.Context, p Protection) bool {
	out, _ := ctx.Value(key{}).([]Protection)
	return slices.Contains(out, p)
}
