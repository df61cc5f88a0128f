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
// Nothing here is on the way of a worker that was not given it.
package faults
