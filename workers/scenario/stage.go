package scenario

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/overlap"
)

// Stage is the world of one play. Its methods may be called by several goroutines.
type Stage struct {
	// Q is the queue as the audience sees it: over connections that no worker owns.
	Q *queue.Queue
	// Rand is what the seed decides. Only the play's own goroutine may draw from it.
	Rand *mathrand.Rand
	// Server is the play's own server, for scenarios that need one; else nil.
	Server *local.Server

	play  *Play
	ctx   context.Context // the play's: its end strikes the stage
	run   string          // names the play within the database: "crash-3f2a"
	began time.Time

	mu        sync.Mutex
	queues    map[string]string // as the story calls it → as the database does
	exempt    map[string]bool   // queues, as the database calls them, in which harm is part of the story
	acked     []int64           // jobs whose enqueue was acknowledged, but for exempt queues
	crews     []*Crew
	processes []*faults.Process
	ending    sync.Once         // of the processes: that it is put down
	said      map[string]string // what only the story knows of a worker's state
	recovery  workers.Recovery
	lease     time.Duration // the shortest in use
	undo      []undo        // in the order in which they were put down
	struck    bool          // it is being taken down
	watch     context.CancelFunc
	watched   sync.WaitGroup
	soon      chan struct{} // asks for a look at once
	lock      *pgx.Conn     // holds the play's advisory lock
	dies      func()        // ends the goroutine that keeps it, and waits for its end; nil before
	losses    losses
	leaseless leaseless
	rested    []rest // of the load
	overlaps  overlap.Recorder
	runs      runs
	troubles  troubles
	past      past
}

// undo is something to take down.
type undo struct {
	what string
	do   func(ctx context.Context) error
}

// newStage makes the world of a play. What was made before an error is taken down by strike.
func newStage(ctx context.Context, p *Play) (*Stage, error) {
	var tag [3]byte
	rand.Read(tag[:]) // never fails since Go 1.24
	s := &Stage{
		Rand: mathrand.New(mathrand.NewPCG(p.o.Seed, 0)),
		play: p, ctx: ctx, run: p.scenario.Name + "-" + hex.EncodeToString(tag[:]), began: time.Now(),
		queues: map[string]string{}, exempt: map[string]bool{}, said: map[string]string{}, soon: make(chan struct{}, 1),
	}
	p.board.change(func(b *Picture) { b.Run = s.run })
	ok, why, err := p.ground.Allows(ctx, p.scenario.Needs)
	if err == nil && !ok {
		err = fmt.Errorf("this scenario needs a %s of its own: %s", p.scenario.Needs, why)
	}
	if err == nil {
		err = s.build(ctx)
	}
	if err != nil {
		return s, fmt.Errorf("make the stage: %w", err)
	}
	return s, nil
}

func (s *Stage) build(ctx context.Context) error {
	config, schema, where := s.play.ground.Queue.Pool().Config(), s.play.ground.Queue.Schema().Name(), "queue "+s.run
	switch s.play.scenario.Needs {
	case Schema:
		schema = schemaName(s.run)
		where = "schema " + schema
	case Server:
		server, err := s.startServer(ctx)
		if err != nil {
			return err
		}
		s.Server = server
		where = "a server of its own"
		url, err := server.Database(ctx, "leasetop")
		if err != nil {
			return err
		}
		if config, err = pgxpool.ParseConfig(url); err != nil {
			return err
		}
		schema = ""
	}
	s.play.board.change(func(b *Picture) { b.Where = where })
	if err := s.connect(ctx, config, schema); err != nil {
		return err
	}
	return s.occupy(ctx)
}

// RunName is the play's name within the database: "crash-3f2a". Its effects are in the ledger
// under it, and its queues' names begin with it.
func (s *Stage) RunName() string { return s.run }

// Context is the play's own: it ends when the play is stopped. What goes on beside the steps
// and the handlers works under it.
func (s *Stage) Context() context.Context { return s.ctx }

// Reconnect has the audience, and the crews that start from now on, see the queue by other
// connections: those of a server that takes over, say.
func (s *Stage) Reconnect(ctx context.Context, config *pgxpool.Config) error {
	return s.connect(ctx, config, s.Q.Schema().Name())
}

// Open opens the queue once more, over at most so many connections, which go with the play:
// for who works in it and is no crew.
func (s *Stage) Open(ctx context.Context, most int32) (*queue.Queue, error) {
	q, err := faults.Open(ctx, s.Q.Pool().Config(), s.Q.Schema().Name(), most, "leasetop scenario "+s.run)
	if err != nil {
		return nil, err
	}
	s.Later("close the connections", func(context.Context) error {
		q.Pool().Close()
		return nil
	})
	return q, nil
}

// connect has the audience see the queue by these connections.
func (s *Stage) connect(ctx context.Context, config *pgxpool.Config, schema string) error {
	q, err := faults.Open(ctx, config, schema, 3, "leasetop audience")
	if err != nil {
		return err
	}
	s.Q = q
	s.Later("close the audience's connections", func(context.Context) error {
		q.Pool().Close()
		return nil
	})
	return nil
}

// startServer starts a PostgreSQL server of the play's own, which goes with it.
func (s *Stage) startServer(ctx context.Context) (*local.Server, error) {
	o := s.serverOptions("", "the server")
	server, err := local.Start(ctx, o)
	return s.goesWithIt(server, o, err)
}

// StartStandby starts a standby of the play's own server, which goes with the
// play too. name tells it apart from that.
func (s *Stage) StartStandby(ctx context.Context, name string) (*local.Server, error) {
	o := s.serverOptions(name, "the standby")
	server, err := s.Server.Standby(ctx, o)
	return s.goesWithIt(server, o, err)
}

// serverOptions are those of a server whose folder's name ends so, and which the audience
// is told of under another.
func (s *Stage) serverOptions(name, called string) local.Options {
	return local.Options{
		Dir: s.play.ground.Dir, Name: serverPrefix + s.run + name, Fresh: true,
		Progress: func(step string) {
			text, _, _ := strings.Cut(step, " /") // where it is on the disk is not of the story
			s.Note("", called+": "+text)
		},
	}
}

// goesWithIt has a server that was started removed with the play.
func (s *Stage) goesWithIt(server *local.Server, o local.Options, err error) (*local.Server, error) {
	if err != nil {
		return nil, err
	}
	s.Later("remove the server", func(ctx context.Context) error {
		return errors.Join(server.Stop(ctx), local.Remove(ctx, o))
	})
	return server, nil
}

// Later has something taken down when the play is over, however it ends: what was put
// down last goes first.
func (s *Stage) Later(what string, do func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo = append(s.undo, undo{what, do})
}

// strike takes everything down. It is called whatever happened, and goes on past errors.
func (s *Stage) strike(ctx context.Context) error {
	if s.watch != nil {
		s.watch()
	}
	s.watched.Wait()
	s.mu.Lock()
	s.struck = true
	s.mu.Unlock()
	var errs []error
	for {
		s.mu.Lock()
		n := len(s.undo)
		if n == 0 {
			s.mu.Unlock()
			return errors.Join(errs...)
		}
		last := s.undo[n-1]
		s.undo = s.undo[:n-1]
		s.mu.Unlock()
		if err := last.do(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", last.what, err))
		}
	}
}

// Queue is the database's name of a queue of the story: unique to this play. The
// story's own name may be "" where it has only one.
func (s *Stage) Queue(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	full, ok := s.queues[name]
	if !ok {
		full = s.run
		if name != "" {
			full += "-" + name
		}
		s.queues[name] = full
	}
	return full
}

// Exempt takes a queue of the story out of the invariants: in it harm is shown on purpose.
func (s *Stage) Exempt(name string) {
	full := s.Queue(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exempt[full] = true
}

// allQueues are the queues of the story, as the database calls them; counted leaves out
// those that are exempt.
func (s *Stage) allQueues(counted bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for _, full := range s.queues {
		if !counted || !s.exempt[full] {
			names = append(names, full)
		}
	}
	return names
}

// Enqueue enqueues and remembers what was acknowledged: none of it may be lost. The jobs'
// queues are the story's names.
func (s *Stage) Enqueue(ctx context.Context, jobs ...queue.NewJob) ([]int64, error) {
	for i := range jobs {
		jobs[i].Queue = s.Queue(jobs[i].Queue)
	}
	added, err := s.Q.Enqueue(ctx, jobs...)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(added))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range added {
		ids[i] = added[i].ID
		if !s.exempt[jobs[i].Queue] {
			s.acked = append(s.acked, ids[i])
		}
	}
	return ids, nil
}

// Now is the database's clock.
func (s *Stage) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_now")).Scan(&now)
	return now, err
}
