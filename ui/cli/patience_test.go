package cli

import (
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// silenced passes on what goes to a database and comes from it, until it is told to stop
// that, and returns how to connect through it.
func silenced(t *testing.T, url string) (through string, silent *atomic.Bool) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent = &atomic.Bool{}
	t.Cleanup(func() { listener.Close() })
	pass := func(to, from net.Conn) {
		defer to.Close()
		for buffer := make([]byte, 64<<10); ; {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			if !silent.Load() {
				_, _ = to.Write(buffer[:n])
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(config.Host, ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			go pass(server, client)
			go pass(client, server)
		}
	}()
	return "postgres://" + config.User + "@" + listener.Addr().String() + "/" + config.Database + "?sslmode=disable", silent
}

// A server that takes connections and says nothing is waited for with a word, and for no
// longer than it may stay silent.
func TestACommandDoesNotWaitForASilentServer(t *testing.T) {
	t.Parallel()
	for name, whenReached := range map[string]bool{"from the beginning": false, "once it was reached": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, silent := silenced(t, testdb.New(t))
			silent.Store(!whenReached)
			var told atomic.Value
			where := Where{URL: url, Timeout: 300 * time.Millisecond, reminds: 20 * time.Millisecond, Progress: func(step string) { told.CompareAndSwap(nil, step) }}
			ctx, end := Endable(t.Context())
			defer end(nil)
			err := With(ctx, where, func(d *Database) error {
				silent.Store(true)
				_, err := d.Depth(ctx, 0)
				return err
			})
			want := "no answer from " + url + " (from --database-url) within 300ms: check that the server runs and that the address is right, or wait longer with --timeout"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
			if step, _ := told.Load().(string); !strings.HasPrefix(step, "waiting for "+url) {
				t.Errorf("told %q", step)
			}
		})
	}
}

// A statement that takes longer than the server may stay silent goes on, since the server is
// there. A busy server may take longer than that to say so: then it is given more.
func TestALongStatementIsNoSilentServer(t *testing.T) {
	t.Parallel()
	url, _ := silenced(t, testdb.New(t))
	for timeout := time.Second; ; timeout *= 2 {
		ctx, end := Endable(t.Context())
		err := With(ctx, Where{URL: url, Timeout: timeout}, func(d *Database) error {
			_, err := d.Pool().Exec(ctx, "select pg_sleep($1)", (timeout + timeout/4).Seconds())
			return err
		})
		end(nil)
		if err == nil {
			return
		}
		if timeout > 10*time.Second {
			t.Fatal(err)
		}
	}
}
