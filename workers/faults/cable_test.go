package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

func newCable(t testing.TB) *Cable {
	c := NewCable()
	t.Cleanup(c.Close)
	return c
}

// connect makes a session whose connection leads through the cable.
func connect(t testing.TB, c *Cable, url string) *pgx.Conn {
	t.Helper()
	config := configOf(t, url)
	c.Through(config)
	return connectBy(t, config)
}

func connectBy(t testing.TB, config *pgx.ConnConfig) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

// ask runs a query in the background.
func ask(ctx context.Context, conn *pgx.Conn) <-chan error {
	answer := make(chan error, 1)
	go func() {
		var one int
		answer <- conn.QueryRow(ctx, "SELECT 1").Scan(&one)
	}()
	return answer
}

// held waits until something is on its way that may not arrive.
func held(t testing.TB, c *Cable) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		for w := range c.wires {
			w.mu.Lock()
			n := w.up.size + w.down.size
			w.mu.Unlock()
			if n > 0 {
				c.mu.Unlock()
				return
			}
		}
		c.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatal("nothing is on its way")
		}
	}
}

func TestStalledCableLetsNothingPassAndTellsNobodyUntilItIsHealed(t *testing.T) {
	t.Parallel()
	c, url := newCable(t), testdb.New(t)
	conn := connect(t, c, url)
	c.Stall()
	answer := ask(t.Context(), conn)
	held(t, c)
	config := configOf(t, url)
	c.Through(config)
	dialled := make(chan error, 1)
	go func() {
		other, err := pgx.ConnectConfig(t.Context(), config)
		if err == nil {
			err = other.Close(t.Context())
		}
		dialled <- err
	}()
	hasty, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := pgx.ConnectConfig(hasty, config); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a dial that gives up says %v", err)
	}
	if _, err := c.dial(hasty, "tcp", "", func(context.Context, string, string) (net.Conn, error) {
		t.Error("the server was asked for a connection during the partition")
		return nil, net.ErrClosed
	}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if !pending(answer) || !pending(dialled) || c.String() != "stalled" {
		t.Error("something passed a stalled cable")
	}
	c.Heal()
	if err := receive(t, "the answer", answer); err != nil {
		t.Error(err)
	}
	if err := receive(t, "the new connection", dialled); err != nil {
		t.Error(err)
	}
}

// A worker that gives up waiting cannot take its statement back: it is on its way.
func TestWhatWasSentBeforeAPartitionEndsArrivesThoughItsSenderHasGone(t *testing.T) {
	t.Parallel()
	c := newCable(t)
	q, url := open(t)
	run(t, q, "CREATE TABLE notes (note text)")
	config := configOf(t, url)
	c.Through(config)
	through := config.DialFunc
	var once atomic.Bool
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if once.Swap(true) { // a request to cancel the statement, which might arrive while it runs
			return nil, net.ErrClosed
		}
		return through(ctx, network, address)
	}
	conn := connectBy(t, config)
	c.Stall()
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "INSERT INTO notes VALUES ('late')")
		sent <- err
	}()
	held(t, c)
	cancel()
	if err := receive(t, "the end of the statement", sent); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	_ = conn.Close(t.Context())
	if n := value[int](t, q, "SELECT count(*) FROM notes"); n != 0 {
		t.Errorf("%d notes arrived through a stalled cable", n)
	}
	c.Heal()
	until(t, q, "SELECT count(*) = 1 FROM notes")
}

func TestCutCableBreaksConnectionsAndRefusesNewOnesUntilItIsHealed(t *testing.T) {
	t.Parallel()
	c, url := newCable(t), testdb.New(t)
	conn := connect(t, c, url)
	answer := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT pg_sleep($1)", 3600.0)
		answer <- err
	}()
	until(t, openThrough(t, url, nil), "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'")
	c.Cut()
	if err := receive(t, "the end of the statement", answer); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a statement on a broken connection says %v", err)
	}
	config := configOf(t, url)
	c.Through(config)
	if _, err := pgx.ConnectConfig(t.Context(), config); !errors.Is(err, syscall.ECONNREFUSED) || c.String() != "cut" {
		t.Errorf("a new connection says %v", err)
	}
	c.Heal()
	if conn.Ping(t.Context()) == nil || !conn.IsClosed() {
		t.Error("a broken connection came back")
	}
	if err := receive(t, "an answer", ask(t.Context(), connect(t, c, url))); err != nil {
		t.Error(err)
	}
}

func TestCutEndsAStallAndWhoeverHangsInIt(t *testing.T) {
	t.Parallel()
	c, url := newCable(t), testdb.New(t)
	conn := connect(t, c, url)
	c.Stall()
	answer := ask(t.Context(), conn)
	config := configOf(t, url)
	c.Through(config)
	dialled := make(chan error, 1)
	go func() {
		_, err := pgx.ConnectConfig(t.Context(), config)
		dialled <- err
	}()
	held(t, c)
	c.Cut()
	if err := receive(t, "the end of the statement", answer); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the statement: %v", err)
	}
	if err := receive(t, "the end of the dial", dialled); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the dial: %v", err)
	}
}

func TestHealedCableBringsAtOnceWhatWasToBeLate(t *testing.T) {
	t.Parallel()
	c, url := newCable(t), testdb.New(t)
	conn := connect(t, c, url)
	c.Delay(24 * time.Hour)
	answer := ask(t.Context(), conn)
	held(t, c)
	c.Heal()
	if err := receive(t, "the answer", answer); err != nil || c.String() != "flowing" {
		t.Errorf("%v, %s", err, c)
	}
}

func TestClosedCableIsClosedForGood(t *testing.T) {
	t.Parallel()
	c, url := NewCable(), testdb.New(t)
	conn := connect(t, c, url)
	c.Stall()
	answer := ask(t.Context(), conn)
	held(t, c)
	c.Close()
	if err := receive(t, "the end of the statement", answer); err == nil {
		t.Error("it was answered")
	}
	c.Heal()
	config := configOf(t, url)
	c.Through(config)
	if _, err := pgx.ConnectConfig(t.Context(), config); !errors.Is(err, net.ErrClosed) || c.String() != "closed" {
		t.Errorf("%v, %s", err, c)
	}
	if len(c.wires) != 0 {
		t.Errorf("%d connections are left", len(c.wires))
	}
	c.Close()
}

// Many sessions on one cable, while everything changes: nothing is lost or mixed up that
// was not cut, and the race detector has nothing to say.
func TestManySessionsShareACableThatIsStalledAndDelayedAllTheTime(t *testing.T) {
	t.Parallel()
	c, url := newCable(t), testdb.New(t)
	var sessions sync.WaitGroup
	for range 4 {
		conn := connect(t, c, url)
		sessions.Go(func() {
			for i := range 40 {
				text := strings.Repeat(fmt.Sprint(i%10), 1+i*5000)
				var got string
				if err := conn.QueryRow(t.Context(), "SELECT $1::text", text).Scan(&got); err != nil || got != text {
					t.Errorf("%d bytes came back as %d: %v", len(text), len(got), err)
					return
				}
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		sessions.Wait()
	}()
	for i := 0; pending(over); i++ {
		c.Delay(time.Duration(i%3) * time.Millisecond)
		c.Stall()
		time.Sleep(time.Millisecond)
		c.Heal()
		time.Sleep(time.Millisecond)
	}
}
