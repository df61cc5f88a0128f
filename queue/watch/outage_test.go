package watch

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// outage is a feed on a server of its own, to which something happens.
type outage struct {
	*testing.T
	server *local.Server
	url    string
	net    *network // of all the feed's connections
	feed   *Feed
	psql   *pgx.Conn
}

// backend waits until the server's side of a connection of the feed rests, and names it.
func (o *outage) backend(of string) (pid int) {
	o.Helper()
	for giveUp := time.Now().Add(time.Minute); ; {
		err := o.psql.QueryRow(o.Context(), `SELECT pid FROM pg_stat_activity
			WHERE application_name = 'leasetop feed ' || $1 AND datname = current_database()
			AND wait_event IN ('ClientRead', 'WalSenderMain', 'WalSenderWaitForWal', 'WalSenderWaitForWAL')`, of).Scan(&pid)
		if err == nil {
			return pid
		}
		if !errors.Is(err, pgx.ErrNoRows) || time.Now().After(giveUp) {
			o.Fatalf("the backend of %q: %v", of, err)
		}
	}
}

// terminate ends connections of the feed as an operator may.
func (o *outage) terminate(of ...string) {
	for _, name := range of {
		exec(o, o.psql, "SELECT pg_terminate_backend($1)", o.backend(name))
	}
}

// freeze has a backend do nothing more, and not even that known to its client.
func (o *outage) freeze(of string) (thaw func()) {
	pid := o.backend(of)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		o.Fatal(err)
	}
	thaw = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	o.Cleanup(thaw)
	return thaw
}

// An outage is said, with its reason, no figure passes for newer than it is, and once
// it is over all is exact again and nothing was counted twice.
func TestOutageIsSaidAndLeavesNothingWrong(t *testing.T) {
	t.Parallel()
	wal, listen, poll := []Source{FromWAL}, []Source{Notice}, []Source{Polled}
	all := []Source{FromWAL, Notice, Polled}
	restart := func(mode local.Mode) func(o *outage) func() {
		return func(o *outage) func() {
			do(o, o.server.Restart(o.Context(), mode))
			return nil
		}
	}
	terminated := func(of ...string) func(o *outage) func() {
		return func(o *outage) func() {
			o.terminate(of...)
			return nil
		}
	}
	frozen := func(of string) func(o *outage) func() {
		return func(o *outage) func() { return o.freeze(of) }
	}
	for _, c := range []struct {
		name   string
		says   []Source
		reason string // that each of them gives
		strike func(o *outage) (mend func())
	}{
		{"walsender terminated", wal, "terminating connection", terminated("wal")},
		{"LISTEN terminated", listen, "terminating connection", terminated("listen")},
		{"both terminated", []Source{FromWAL, Notice}, "terminating connection", terminated("wal", "listen")},
		{"every connection terminated", []Source{FromWAL, Notice}, "terminating connection", terminated("wal", "listen", "poll")},
		{"server restarted", all, "", restart(local.Fast)},
		{"server crashed", all, "", restart(local.Immediate)},
		{"walsender frozen", wal, "no sign of life", frozen("wal")},
		{"LISTEN frozen", listen, "no answer", frozen("listen")},
		{"poll frozen", poll, "no answer", frozen("poll")},
		{"network gone silent", all, "no ", func(o *outage) func() {
			o.net.silence()
			return nil // new connections work
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := &outage{T: t, server: testdb.Server(t, "autovacuum=off"), net: &network{app: "leasetop feed"}}
			o.url = testdb.On(t, o.server)
			o.psql = client(t, o.url)
			exec(t, o.psql, `INSERT INTO leasetop.jobs (queue, status, run_at, locked_by, locked_at, lease_expires_at)
				SELECT 'old' || n % 3, (ARRAY['pending', 'processing', 'completed', 'failed', 'dead'])[1 + n % 5],
					now() + n % 2 * interval '1 day', 'w' || n, now(), now() + n * interval '1 hour' FROM generate_series(1, 120) AS n`)
			o.feed = start(t, across(t, o.url, o.net), Options{})
			s := exact(t, o.feed, o.psql)
			w := watched(t, o.feed, o.url)

			struck := time.Now()
			mend := c.strike(o)
			since := lastEvent(s)
			await(t, o.feed, "the outage said", func(s *State) bool {
				for _, of := range c.says {
					if !said(s, since, of, c.reason) {
						return false
					}
				}
				return true
			})
			t.Logf("said after %v", time.Since(struck))
			await(t, o.feed, "every connection up again", func(s *State) bool { return attached(s) && s.Depths.Source == FromWAL })
			if mend != nil {
				mend()
			}
			w.stop()
			o.psql = client(t, o.url)
			s = exact(t, o.feed, o.psql)
			for _, of := range c.says {
				if l := linkOf(s, of); l.Since.Before(struck) {
					t.Errorf("the %s is said to work since %v before the outage", linkNames[of], struck.Sub(l.Since))
				}
			}
			toldOnce(t, o.feed)
			for _, line := range w.overcounted(s) {
				t.Error(line)
			}
		})
	}
}

// said tells whether State says, or the events since say, that a connection is lost.
func said(s *State, since uint64, of Source, reason string) bool {
	if l := linkOf(s, of); !l.OK && l.Reason != "" && strings.Contains(l.Reason, reason) {
		return true
	}
	for _, e := range s.Notable {
		if e.Seq > since && e.What == Health && e.Source == of && strings.HasPrefix(e.Note, linkNames[of]+": ") && strings.Contains(e.Note, reason) {
			return true
		}
	}
	return false
}

func linkOf(s *State, of Source) Link { return *(&Feed{draft: *s}).link(of) }

func lastEvent(s *State) uint64 {
	if n := len(s.Events); n > 0 {
		return s.Events[n-1].Seq
	}
	return 0
}

// What is silent is said to be within five seconds: the longest that passes between
// two questions to it, and until no answer is taken for none.
func TestSilenceIsSaidWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Second
	for of, longest := range map[string]time.Duration{
		"stream": silentAfter + confirmEvery,
		"LISTEN": probeAfter + probeWait,
		"poll":   silentAfter + streamingRest,
	} {
		if longest > most {
			t.Errorf("%s: %v", of, longest)
		}
	}
}
