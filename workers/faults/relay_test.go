package faults

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

func relay(t testing.TB, config *pgx.ConnConfig, c *Cable) *Relay {
	t.Helper()
	r, err := NewRelay(config, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestProcessBehindARelayIsPartitionedAndComesBack(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	c := newCable(t)
	lost := make(chan struct{}, 100)
	p := start(t, ProcessOptions{
		URL: relay(t, configOf(t, url), c).URL(), Name: "far", Handlers: "waiting", Lease: time.Second,
		Events: func(e workers.Event) {
			if e.What == workers.TrustEnded {
				lost <- struct{}{}
			}
		},
	})
	enqueue(t, q, queue.NewJob{})
	shows(t, p, running(1))
	c.Stall()
	receive(t, "the worker to stop trusting its lease", lost)
	heir := start(t, ProcessOptions{URL: url, Name: "near", Handlers: "waiting"})
	shows(t, heir, running(1))
	c.Heal()
	next := enqueue(t, q, queue.NewJob{})[0]
	shows(t, p, func(w workers.Snapshot) bool { return len(w.Running) == 1 && w.Running[0].JobID == next })
}

func TestCutCableShowsThroughARelayAndNothingIsLeftOfAClosedOne(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	c := newCable(t)
	r := relay(t, configOf(t, url), c)
	conn, err := pgx.Connect(t.Context(), r.URL())
	if err != nil {
		t.Fatal(err)
	}
	c.Cut()
	if conn.Ping(t.Context()) == nil {
		t.Error("a cut connection answers")
	}
	if other, err := pgx.Connect(t.Context(), r.URL()); err == nil {
		_ = other.Close(t.Context())
		t.Error("a cut cable connects")
	}
	c.Heal()
	if conn, err = pgx.Connect(t.Context(), r.URL()); err != nil {
		t.Fatal(err)
	}
	c.Stall()
	answer := ask(context.Background(), conn)
	held(t, c)
	r.Close()
	if receive(t, "the end of the statement", answer) == nil {
		t.Error("it was answered")
	}
	if _, err := os.Stat(r.folder); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
	r.Close()
}

func TestRelaysAddressKeepsWhatTheConnectionHadAndOnlyItsOwnerCanReachIt(t *testing.T) {
	t.Parallel()
	config := configOf(t, "postgres://an%2Fn:s%20e+c%2Fret@127.0.0.1:1/da%20ta?search_path=a,b&application_name=x&connect_timeout=7&sslmode=disable")
	r := relay(t, config, newCable(t))
	got := configOf(t, r.URL())
	if got.User != config.User || got.Password != config.Password || got.Database != config.Database || got.ConnectTimeout != config.ConnectTimeout || got.Host != r.folder {
		t.Errorf("it leads to %s as %q with %q to %q within %v", got.Host, got.User, got.Password, got.Database, got.ConnectTimeout)
	}
	if got.RuntimeParams["search_path"] != "a,b" || got.RuntimeParams["application_name"] != "" {
		t.Errorf("settings %v", got.RuntimeParams)
	}
	if info, err := os.Stat(r.folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", info.Mode(), err)
	}
	if u, err := url.Parse(r.URL()); err != nil || strings.Contains(u.Redacted(), "s%20e") {
		t.Errorf("%v", err)
	}
}

func TestRelayRemovesWhatThoseOfKilledProgramsLeft(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	folder := func(name string, age time.Duration, listens, open bool) string {
		path := filepath.Join(in, relayPrefix+name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if listens {
			l, err := net.Listen("unix", socketIn(path))
			if err != nil {
				t.Fatal(err)
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false) // as when its program is killed
			if open {
				t.Cleanup(func() { _ = l.Close() })
			} else {
				_ = l.Close()
			}
		}
		if then := time.Now().Add(-age); os.Chtimes(path, then, then) != nil {
			t.Fatal("the folder cannot be made older")
		}
		return path
	}
	killed := folder("1", time.Hour, true, false)
	stays := []string{folder("2", time.Hour, true, true), folder("3", 0, true, false), folder("4", 0, false, false)}
	sweepRelays(in)
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("what a killed program left is there: %v", err)
	}
	for _, path := range stays {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
