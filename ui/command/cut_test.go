package command

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// cable is between a program and a server's socket. When it is cut neither side is
// told: what goes in does not come out.
type cable struct {
	folder string // where its own socket is
	cut    atomic.Pointer[chan struct{}]
}

// newCable goes to the server of a connection string; the result leads through it.
func newCable(t *testing.T, url string) (c *cable, through string) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	c = &cable{folder: testdb.Home(t)}
	whole := make(chan struct{})
	c.cut.Store(&whole)
	name := ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(c.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", filepath.Join(config.Host, name))
			if err != nil {
				near.Close()
				continue
			}
			t.Cleanup(func() { near.Close(); far.Close() })
			cut := *c.cut.Load()
			go carry(near, far, cut)
			go carry(far, near, cut)
		}
	}()
	return c, strings.Replace(url, config.Host, c.folder, 1)
}

// sever cuts every connection there is; later ones get through.
func (c *cable) sever() {
	whole := make(chan struct{})
	close(*c.cut.Swap(&whole))
}

// carry passes on what it reads until the cable is cut, and the end of it too.
func carry(from, to net.Conn, cut <-chan struct{}) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-cut: // and what comes is lost, and so is the end
			_, _ = io.Copy(io.Discard, from)
			return
		default:
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			from.Close()
			to.Close()
			return
		}
	}
}

// The network between a dashboard and its server is cut, and nobody is told. It says so
// and comes back over a new connection; then it ends, cut off again. The server lets go
// of both slots.
func TestDashboardCutOffComesBackAndLeavesNoSlot(t *testing.T) {
	t.Parallel()
	s := newSlotServer(t)
	cable, through := newCable(t, s.url)
	p := start(t, "DATABASE_URL="+through)
	p.until(" depth no jobs$")
	s.until("a stream", func(_, streaming int) bool { return streaming == 1 })
	began := time.Now()
	cable.sever()
	p.until(" WAL stream: no sign of life ")
	t.Logf("the dashboard said so after %v", time.Since(began))
	p.until(" WAL stream: works again")
	s.exec(s.psql, "INSERT INTO leasetop.jobs (queue) VALUES ('emails')")
	p.until(` depth emails: ready 1,`)

	cable.sever()
	p.end(syscall.SIGKILL) // and the server is not told of that either
	s.until("no slot", none)
}
