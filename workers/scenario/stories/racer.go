package stories

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// racer is one of the ways to claim, with as many workers as the others and a queue of
// the same size. It runs alone, so that the machine is its own.
type racer struct {
	name  string // on its bar
	queue string // the story's name
	app   string // application_name of its connections
	claim faults.Claimer

	mu         sync.Mutex
	had        map[int64]int  // how often each job was claimed
	claims     int            // of whatever job
	finished   map[int64]bool // jobs that are done, however often
	duplicates int            // claims of a job that somebody had before
	looks      int            // at who waits for a lock
	waiting    int            // workers seen waiting, of all looks
	took       time.Duration
}

// raceLease is longer than a race lasts: nobody loses a job here for another reason.
const raceLease = time.Minute

// run has the workers claim and finish until their queue is empty or the time is over.
// distance is how long one way through the network takes.
func (r *racer) run(ctx context.Context, s *scenario.Stage, workers int, distance, atMost time.Duration) error {
	cable := faults.NewCable()
	defer cable.Close()
	through := func(c *pgx.ConnConfig) {
		cable.Through(c)
		c.RuntimeParams["application_name"] = r.app
	}
	conns := make([]*pgx.Conn, 0, workers)
	defer func() {
		cable.Heal()
		for _, conn := range conns {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for range workers {
		conn, _, err := s.Q.Connect(ctx, through)
		if err != nil {
			return fmt.Errorf("connect a racer: %w", err)
		}
		conns = append(conns, conn)
	}
	cable.Delay(distance)

	began := time.Now()
	racing, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, workers)
	var all, watching sync.WaitGroup
	for i, conn := range conns {
		all.Go(func() { errs[i] = r.work(racing, s, conn, fmt.Sprintf("%s-%d", r.queue, i+1), began.Add(atMost)) })
	}
	watching.Go(func() { r.watch(racing, s, began) })
	all.Wait()
	r.mu.Lock()
	r.took = time.Since(began)
	r.mu.Unlock()
	stop()
	watching.Wait()
	s.Bar(r.bar(true))
	s.Note("", r.told())
	return errors.Join(errs...)
}

// work is one worker: claim in a transaction, do the job, complete it.
func (r *racer) work(ctx context.Context, s *scenario.Stage, conn *pgx.Conn, worker string, until time.Time) error {
	schema, queue := s.Q.Schema(), s.Queue(r.queue)
	for time.Now().Before(until) {
		var id int64
		var got bool
		err := pgx.BeginFunc(ctx, conn, func(pgx.Tx) (err error) {
			id, got, err = r.claim(ctx, conn, schema, queue, worker, raceLease)
			return err
		})
		if err != nil || !got {
			return err
		}
		attempt := r.claimed(id)
		if _, err := conn.Exec(ctx, schema.Query("scenario_effect"), s.RunName(), id, attempt, worker); err != nil {
			return err
		}
		if ok, err := faults.Finish(ctx, conn, schema, id, worker); err != nil {
			return err
		} else if ok {
			r.finish(id)
		}
	}
	return nil
}

// claimed counts a claim, and returns which one it is of its job: 1 is the first.
func (r *racer) claimed(id int64) (attempt int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.had == nil {
		r.had = map[int64]int{}
	}
	r.claims++
	r.had[id]++
	if r.had[id] > 1 {
		r.duplicates++
	}
	return r.had[id]
}

func (r *racer) finish(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished == nil {
		r.finished = map[int64]bool{}
	}
	r.finished[id] = true
}

// watch looks who waits for a lock, and moves the bar, until ctx ends.
func (r *racer) watch(ctx context.Context, s *scenario.Stage, began time.Time) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var waiting, there int
		if err := s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_lock_waits"), r.app).Scan(&waiting, &there); err != nil {
			continue
		}
		r.mu.Lock()
		r.looks++
		r.waiting += waiting
		r.took = time.Since(began)
		r.mu.Unlock()
		if n%5 == 0 {
			s.Bar(r.bar(false))
		}
	}
}

// perSecond is how many jobs were done in a second, each counted once.
func (r *racer) perSecond() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.took <= 0 {
		return 0
	}
	return float64(len(r.finished)) / r.took.Seconds()
}

// began tells whether there is anything to tell of it.
func (r *racer) began() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took > 0
}

// stood is how many of the workers waited for a lock, on average.
func (r *racer) stood() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return float64(r.waiting) / float64(max(r.looks, 1))
}

// twice is how many claims were of a job that somebody had before.
func (r *racer) twice() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.duplicates
}

// done is how many jobs are done.
func (r *racer) done() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.finished)
}

// told is the outcome of the race: each claim is the first of its job, or a duplicate.
func (r *racer) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%s: %s claims, %s of them duplicates", r.name, thousands(r.claims), thousands(r.duplicates))
}

func (r *racer) bar(over bool) scenario.Bar {
	bar := scenario.Bar{Name: r.name, Value: float64(r.done()), Unit: "jobs", Most: raceJobs, Over: over, Bad: r.twice() > 0, Note: "its turn is yet to come"}
	if r.began() {
		bar.Note = fmt.Sprintf("%s/s · %s duplicates · %.1f of %d wait", thousands(int(r.perSecond()+0.5)), thousands(r.twice()), r.stood(), raceWorkers)
	}
	return bar
}

// thousands writes a number as the screens do: "2,168".
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
