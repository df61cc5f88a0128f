// Package faults is what can go wrong with a queue and its workers, on demand: each
// fault is one call, real, and undone by another.
//
// A [Cable] is the network between some connections and their server, which can be
// stalled, cut or slow; a [Relay] is one for other processes. A [Process] is a worker in
// a process of its own, which a real SIGKILL ends. [TerminateListeners] takes the wake-ups
// away, [PinVacuum] holds an old snapshot, [DropReadyIndex] takes away the index that
// claims rely on, [RestartServer] restarts a private server. A [Dependency] is what
// handlers call and what may fail or be slow; [Poison] is the handlers of jobs that can
// never be done. [Naive], [Blocking] and [Skipping] are other people's ways to claim, and
// a [PollingStorm] is their way to wait.
//
// [All] is the catalogue of these for a program that lets its user break something: a
// [Damage] does one of them, knows what is broken, and heals it. A [Crew] is the workers
// of such a program, those in processes of their own among them.
//
// Nothing here is on the way of a worker that was not given it.
package faults

import (
	"context"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
)

// Fault is something that a person can break by itself, to see what comes of it.
type Fault struct {
	Name  string // "partition"
	Title string // "network partition"
	What  string // what it breaks, what is to be watched, and how it is over
	// Aim tells that it is done to one worker, which the person chooses.
	Aim bool
	// Database tells that it breaks the database itself: it is done only to one for
	// demonstrations; see [queue.Queue.Demonstration].
	Database bool

	needs []need
	// part is what it breaks: of two faults with the same one, the first is healed before
	// the second is done. "" excludes none.
	part  string
	start func(ctx context.Context, t Target) (*Active, error)
}

// Target is what faults are done to. What is missing takes the faults that need it away.
type Target struct {
	// Queue is the database. Its connections are not the workers', so that whoever looks
	// on goes on seeing.
	Queue *queue.Queue
	// Crew is the workers of this program; nil when there are none.
	Crew *Crew
	// Worker is the one of them that a fault with an Aim is done to.
	Worker string
	// Cable leads the connections of the workers, those of their processes too.
	Cable *Cable
	// Dependency is what their handlers call.
	Dependency *Dependency
	// Jobs makes up jobs that they can do, and Poisoned is the queue of theirs whose
	// handlers know [Poison]; nil and "" when there is none.
	Jobs     func(n int) []queue.NewJob
	Poisoned string
	// Server is the private server of the database; nil for any other.
	Server *local.Server
}

// Active is a fault that was done.
type Active struct {
	did      string                          // in words
	heal     func(ctx context.Context) error // nil when there is nothing to heal: it is over, or ends by itself
	progress func() string                   // how it stands; nil says nothing

	fault Fault
	since time.Time
	heals bool // somebody is at it
}

// once is a fault that is over as soon as it was done.
func once(did string, err error) (*Active, error) {
	if err != nil {
		return nil, err
	}
	return &Active{did: did}, nil
}
