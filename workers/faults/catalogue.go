package faults

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
)

// How hard the faults of the catalogue hit.
const (
	networkDelay    = 200 * time.Millisecond // each way
	dependencyDelay = 4 * time.Second
	dependencyFails = 0.8
	burstJobs       = 1000
	strangerCount   = 8
	stormWorkers    = 40
	stormEvery      = 50 * time.Millisecond
)

// All is the catalogue, in the order in which a person should meet them.
func All() []Fault {
	return []Fault{
		{
			Name: "crash", Title: "crash of a worker", Aim: true, needs: []need{needsWorkerHere}, start: crash,
			What: "No claim, heartbeat or outcome leaves it any more, as if its process had died. Its jobs are back, and done by another, once their leases ran out.",
		},
		{
			Name: "freeze", Title: "zombie", Aim: true, needs: []need{needsWorker}, start: freeze,
			What: "It keeps its jobs but sends no heartbeat, until a second after their leases ran out. Then it goes on, too late: what it still writes is refused.",
		},
		{
			Name: "kill-9", Title: "kill -9 of a worker process", Aim: true, needs: []need{needsProcess}, start: crash,
			What: "A real SIGKILL: nothing of the process is left to clean up. Its jobs are back, and done by another, once their leases ran out.",
		},
		{
			Name: "partition", Title: "network partition", part: "the network", needs: []need{needsCable}, start: cabled("no byte passes between the workers of this dashboard and the database", (*Cable).Stall),
			What: "No byte passes between the workers of this dashboard and the database, and nobody is told. They stop their handlers before their leases end, and go on when it is healed.",
		},
		{
			Name: "cut", Title: "network cut", part: "the network", needs: []need{needsCable}, start: cabled("the workers of this dashboard are cut off", (*Cable).Cut),
			What: "The connections of the workers of this dashboard break, and new ones are refused. They say so, try again and again, and go on when it is healed.",
		},
		{
			Name: "slow-network", Title: "slow network", part: "the network", needs: []need{needsCable},
			start: cabled("round trips of the workers of this dashboard take 0.4 s longer", func(c *Cable) { c.Delay(networkDelay) }),
			What:  "Each round trip of the workers of this dashboard takes 0.4 s longer. Claims take that long, too; no lease is lost over it.",
		},
		{
			Name: "slow-dependency", Title: "slow dependency", part: "the dependency", needs: []need{needsDependency},
			start: depending(0, dependencyDelay, "what the handlers call takes 4 s longer"),
			What:  "What the handlers in this process call takes 4 s longer to answer. Slots stay busy and jobs wait; heartbeats keep every lease.",
		},
		{
			Name: "failing-dependency", Title: "failing dependency", part: "the dependency", needs: []need{needsDependency},
			start: depending(dependencyFails, 0, "what the handlers call fails 4 times of 5"),
			What:  "What the handlers in this process call fails 4 times of 5. Retries back off and spread; jobs that use up their attempts are dead letters, to be redriven when it is healed.",
		},
		{
			Name: "poison-permanent", Title: "poison: an error that says so", needs: []need{needsHandlers}, start: poisoned(PoisonPermanent, 5),
			What: "One job whose handler says that no retry will help. It is dead at its first attempt; its neighbours never notice.",
		},
		{
			Name: "poison-panic", Title: "poison: a panic", needs: []need{needsHandlers}, start: poisoned(PoisonPanic, 5),
			What: "One job whose handler panics. It is dead at its first attempt, with the stack; its worker goes on.",
		},
		{
			Name: "poison-killer", Title: "poison: it kills its worker", needs: []need{needsHandlers}, start: poisoned(PoisonKiller, 2),
			What: "One job that takes down whoever runs it. After two workers it is dead and no third falls; n and + spawn new ones.",
		},
		{
			Name: "listen", Title: "terminated LISTEN", needs: []need{needsCrew}, start: deafen,
			What: "The sessions on which the workers hear of new work are ended. Polling goes on meanwhile, and they listen again within seconds.",
		},
		{
			Name: "restart", Title: "server restart", part: "the server", needs: []need{needsServer}, start: restart,
			What: "PostgreSQL is stopped as by a crash and started again, under everybody. What was committed is there; the workers connect again by themselves.",
		},
		{
			Name: "burst", Title: "burst of 1,000 jobs", needs: []need{needsHandlers}, start: burst,
			What: "1,000 jobs at once. Watch the depth climb and the oldest age grow; with + more workers it falls faster.",
		},
		{
			Name: "long-transaction", Title: "long transaction", part: "an old snapshot", Database: true, start: pin,
			What: "A transaction stays open, so that vacuum removes nothing. Dead entries pile up before the head of the queue; claims keep their mark beyond them. It ends when it is healed.",
		},
		{
			Name: "index", Title: "missing ready index", part: "the ready index", Database: true, start: dropIndex,
			What: "The index that claims rely on is dropped: each claim reads the whole table, and takes longer the more there is. Healing builds it again while work goes on.",
		},
		{
			Name: "naive", Title: "naive workers", part: "naive workers", Database: true, start: strange("naive", Naive, false),
			What: "8 workers that look for a job and then take it, without a lock, on a queue of their own. Watch how many jobs are done twice. Their queue goes when it is healed.",
		},
		{
			Name: "blocking", Title: "blocking workers", part: "blocking workers", Database: true, start: strange("blocking", Blocking, true),
			What: "8 workers that lock without SKIP LOCKED and work inside that transaction, on a queue of their own: one works, seven wait. Their queue goes when it is healed.",
		},
		{
			Name: "storm", Title: "polling storm", part: "a polling storm", Database: true, start: storm,
			What: "40 workers that ask for a job every 50 ms on an empty queue of their own: 800 claims a second for nothing. They end when it is healed.",
		},
	}
}

func crash(_ context.Context, t Target) (*Active, error) {
	return once("killed "+t.Worker+": its leases run out now", t.Crew.Kill(t.Worker))
}

func freeze(_ context.Context, t Target) (*Active, error) {
	return once("froze "+t.Worker+": its heartbeats have stopped", t.Crew.Freeze(t.Worker))
}

func cabled(did string, harm func(*Cable)) func(context.Context, Target) (*Active, error) {
	return func(_ context.Context, t Target) (*Active, error) {
		harm(t.Cable)
		return &Active{did: did, heal: func(context.Context) error {
			t.Cable.Heal()
			return nil
		}}, nil
	}
}

func depending(fails float64, slow time.Duration, did string) func(context.Context, Target) (*Active, error) {
	return func(_ context.Context, t Target) (*Active, error) {
		before := t.Dependency.Calls()
		t.Dependency.Set(fails, slow)
		return &Active{
			did: did,
			heal: func(context.Context) error {
				t.Dependency.Set(0, 0)
				return nil
			},
			progress: func() string {
				calls := t.Dependency.Calls()
				return fmt.Sprintf("%d of %d calls failed", calls.Failed-before.Failed, calls.Failed+calls.Succeeded-before.Failed-before.Succeeded)
			},
		}, nil
	}
}

func poisoned(kind string, attempts int) func(context.Context, Target) (*Active, error) {
	return func(ctx context.Context, t Target) (*Active, error) {
		added, err := t.Queue.Enqueue(ctx, queue.NewJob{Queue: t.Poisoned, Kind: kind, MaxAttempts: attempts, Payload: []byte(`{"subject": "hello"}`)})
		if err != nil {
			return nil, err
		}
		return once("enqueued poison: job "+strconv.FormatInt(added[0].ID, 10), nil)
	}
}

func deafen(ctx context.Context, t Target) (*Active, error) {
	ended, err := TerminateListeners(ctx, t.Queue, t.Crew.AppNames()...)
	if err == nil && ended == 0 {
		return once("no worker was listening just now", nil)
	}
	return once(fmt.Sprintf("ended %d of the sessions on which workers listen", ended), err)
}

func restart(ctx context.Context, t Target) (*Active, error) {
	began := time.Now()
	err := RestartServer(ctx, t.Server, local.Immediate, nil)
	return once(fmt.Sprintf("the server was away for %.1f s", time.Since(began).Seconds()), err)
}

func burst(ctx context.Context, t Target) (*Active, error) {
	added, err := t.Queue.EnqueueMany(ctx, t.Jobs(burstJobs))
	return once(fmt.Sprintf("enqueued %d jobs at once", len(added)), err)
}

func pin(ctx context.Context, t Target) (*Active, error) {
	release, err := PinVacuum(ctx, t.Queue)
	if err != nil {
		return nil, err
	}
	return &Active{did: "vacuum is held up", heal: func(context.Context) error { return release() }}, nil
}

func dropIndex(ctx context.Context, t Target) (*Active, error) {
	held, err := takeHold(ctx, t.Queue, theIndex)
	if err != nil {
		return nil, err
	}
	a := missingIndex(t.Queue, held)
	a.did = "dropped the ready index"
	if err := DropReadyIndex(ctx, t.Queue); err != nil {
		// A drop that is interrupted leaves an index that nobody uses.
		if whole, see := readyIndexIsWhole(ctx, t.Queue); see != nil || whole {
			held.letGo()
			return nil, err
		}
		a.did = "the ready index is half dropped: " + err.Error()
	}
	return a, nil
}

func readyIndexIsWhole(ctx context.Context, q *queue.Queue) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lettingGo)
	defer cancel()
	_, whole, err := readyIndexState(ctx, q.Pool(), q)
	return whole, err
}

func storm(_ context.Context, t Target) (*Active, error) {
	s, err := PollingStorm(t.Queue, strangeQueue("storm"), "storm-", stormWorkers, stormEvery)
	if err != nil {
		return nil, err
	}
	return &Active{
		did: fmt.Sprintf("%d workers poll every %v", stormWorkers, stormEvery),
		heal: func(context.Context) error {
			s.Stop()
			return nil
		},
		progress: func() string { return fmt.Sprintf("%d workers · asked %d times in vain", s.Connections(), s.Polls()) },
	}, nil
}
