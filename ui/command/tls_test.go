package command

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.certificate, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign makes a certificate for a server of that name.
func (a *authority) sign(t *testing.T, host string) *tls.Certificate {
	t.Helper()
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotAfter: time.Now().Add(time.Hour),
	}, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// file is the authority's own certificate, for sslrootcert.
func (a *authority) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// front is a door to a server's socket through which one comes over TLS, or is noted.
type front struct {
	port        string
	socket      string
	certificate atomic.Pointer[tls.Certificate] // what it shows
	naked       atomic.Int64                    // who came without TLS
	refused     atomic.Int64                    // who did not like the certificate
	mu          sync.Mutex
	inside      map[net.Conn]string // the connections that it let in, and who they said they are
}

func openFront(t *testing.T, socket string, shows *tls.Certificate) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	f := &front{port: port, socket: socket, inside: map[net.Conn]string{}}
	f.certificate.Store(shows)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		f.throwOut()
		serving.Wait()
	})
	return f
}

// serve is PostgreSQL's opening, then a pipe.
func (f *front) serve(outer net.Conn) {
	defer outer.Close()
	var opening [8]byte
	if _, err := io.ReadFull(outer, opening[:]); err != nil {
		return
	}
	if code := binary.BigEndian.Uint32(opening[4:]); code != 80877103 { // no SSLRequest
		f.naked.Add(1)
		return
	}
	if _, err := outer.Write([]byte("S")); err != nil {
		return
	}
	conn := tls.Server(outer, &tls.Config{Certificates: []tls.Certificate{*f.certificate.Load()}})
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		f.refused.Add(1)
		return
	}
	startup := make([]byte, binary.BigEndian.Uint32(length[:])-4)
	if _, err := io.ReadFull(conn, startup); err != nil {
		return
	}
	inner, err := net.Dial("unix", f.socket)
	if err != nil {
		return
	}
	defer inner.Close()
	f.mu.Lock()
	f.inside[conn] = strings.ReplaceAll(string(startup[4:]), "\x00", " ")
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.inside, conn)
	}()
	if _, err := inner.Write(append(length[:], startup...)); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(conn, inner)
		outer.Close()
	}()
	_, _ = io.Copy(inner, conn)
}

// throwOut ends every connection.
func (f *front) throwOut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.inside {
		conn.(*tls.Conn).NetConn().Close()
	}
}

// who are the connections that are inside.
func (f *front) who() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, startup := range f.inside {
		all = append(all, startup)
	}
	return all
}

// dressed is a server behind a front, the URL by which it is reached, and the way around it.
func dressed(t *testing.T, shows *tls.Certificate, root string) (f *front, address string, direct *pgx.ConnConfig) {
	t.Helper()
	direct, err := pgx.ParseConfig(testdb.On(t, testdb.Server(t)))
	if err != nil {
		t.Fatal(err)
	}
	f = openFront(t, filepath.Join(direct.Host, fmt.Sprint(".s.PGSQL.", direct.Port)), shows)
	return f, "postgres://postgres@localhost:" + f.port + "/" + direct.Database + "?sslmode=verify-full&sslrootcert=" + url.QueryEscape(root), direct
}

// CASES "Secrets": TLS is as strict on the LISTEN, heartbeat and replication
// connections as on the pool's. A server that cannot prove who it is any more gets
// none of them back.
func TestTLSIsAsStrictOnEveryConnection(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t), newAuthority(t)
	f, address, direct := dressed(t, ours.sign(t, "localhost"), ours.file(t))
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	// Who the user is, like a password that expires, is told at each connection.
	config.ConnConfig.User = "nobody"
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { c.User = "postgres"; return nil }
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	q, err := queue.New(pool, "")
	if err != nil {
		t.Fatal(err)
	}
	handlers := workers.NewHandlers()
	done := make(chan int64, 1)
	handlers.Queue("emails", func(_ context.Context, job *queue.Job) error { done <- job.ID; return nil })
	crew, err := workers.New(q, handlers, workers.Options{Lease: 3 * time.Second, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crew.Spawn([]string{"emails"}, 1); err != nil {
		t.Fatal(err)
	}
	if err := crew.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = crew.Stop(t.Context()) }() // its server is lost to it
	feed := watch.Start(t.Context(), q, watch.Options{})
	defer feed.Close()

	awaitFeed(t, feed, func(s *watch.State) bool { return s.WAL.OK && s.Notify.OK && s.Polling.OK })
	if err := q.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	added, err := q.Enqueue(t.Context(), queue.NewJob{Queue: "emails"})
	if err != nil || <-done != added[0].ID {
		t.Fatal(added, err)
	}
	inside := strings.Join(f.who(), "\n")
	for _, who := range []string{"replication database", "leasetop feed listen", "leasetop feed poll"} {
		if !strings.Contains(inside, who) {
			t.Errorf("%q did not come by the front door:\n%s", who, inside)
		}
	}

	good := f.certificate.Load()
	for reason, bad := range map[string]*tls.Certificate{
		"certificate signed by unknown authority": stranger.sign(t, "localhost"),
		"certificate is valid for elsewhere":      ours.sign(t, "elsewhere"),
	} {
		f.certificate.Store(bad)
		f.throwOut()
		pool.Reset()
		if err := q.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("ping: %v, want %s", err, reason)
		}
		if err := q.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("migrate: %v, want %s", err, reason)
		}
		awaitFeed(t, feed, func(s *watch.State) bool {
			return strings.Contains(s.WAL.Reason, reason) && strings.Contains(s.Notify.Reason, reason) && strings.Contains(s.Polling.Reason, reason)
		})
		if inside := f.who(); len(inside) != 0 {
			t.Errorf("let in, with a certificate that proves nothing: %q", inside)
		}
		f.certificate.Store(good)
		awaitFeed(t, feed, func(s *watch.State) bool { return s.WAL.OK && s.Notify.OK && s.Polling.OK })
	}
	feed.Close()

	// The workers' own: the one that listens, while the others stand, then all.
	awaitTrouble(t, crew, 0, "wake-ups (LISTEN) work again")
	// It may still be away for the second of the bad certificates: it comes back first.
	const listens = "query ~ 'LISTEN leasetop_(ready|control)'"
	await(t, direct, listens)
	f.certificate.Store(stranger.sign(t, "localhost"))
	before := f.refused.Load()
	terminate(t, direct, listens)
	f.turnsAway(t, before+2)
	f.throwOut()
	pool.Reset()
	f.turnsAway(t, f.refused.Load()+2) // the heartbeats: nothing else is tried without them
	if inside := f.who(); len(inside) != 0 {
		t.Errorf("let in, with a certificate that proves nothing: %q", inside)
	}
	_, last := crew.Events(0)
	f.certificate.Store(good)
	awaitTrouble(t, crew, last, "heartbeats work again")
	awaitTrouble(t, crew, last, "wake-ups (LISTEN) work again")
	if n := f.naked.Load(); n != 0 {
		t.Errorf("%d connections came without TLS", n)
	}
}

// awaitFeed waits for a state like that.
func awaitFeed(t *testing.T, feed *watch.Feed, like func(*watch.State) bool) *watch.State {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		s := feed.State()
		if like(s) {
			return s
		}
		select {
		case <-feed.Changed(s.Version):
		case <-timeout:
			t.Fatalf("it never came to that: %+v %+v %+v", s.WAL, s.Notify, s.Polling)
		}
	}
}

// awaitTrouble waits until the workers tell of a trouble, or its end.
func awaitTrouble(t *testing.T, crew *workers.Pool, after uint64, text string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		changed := crew.Changed()
		events, _ := crew.Events(after)
		for _, e := range events {
			if e.What == workers.DBTrouble && strings.HasPrefix(e.Text, text) {
				return
			}
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("no event of %q: %+v", text, events)
		}
	}
}

// await waits for a session of a server for which a condition on pg_stat_activity holds.
func await(t *testing.T, direct *pgx.ConnConfig, condition string) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	there := false
	for giveUp := time.Now().Add(time.Minute); !there; {
		err := conn.QueryRow(t.Context(), "select exists (select from pg_stat_activity where pid <> pg_backend_pid() and "+condition+")").Scan(&there)
		if err != nil || time.Now().After(giveUp) {
			t.Fatalf("no such session: %v", err)
		}
	}
}

// terminate ends the sessions of a server for which a condition on pg_stat_activity holds.
func terminate(t *testing.T, direct *pgx.ConnConfig, condition string) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for giveUp := time.Now().Add(time.Minute); ; { // it may be about to come back
		tag, err := conn.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and "+condition)
		if err == nil && tag.RowsAffected() > 0 {
			return
		}
		if err != nil || time.Now().After(giveUp) {
			t.Fatalf("no session was ended: %v", err)
		}
	}
}

// turnsAway waits until so many did not like the certificate.
func (f *front) turnsAway(t *testing.T, many int64) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 6000 {
		if f.refused.Load() >= many {
			return
		}
		<-look.C
	}
	t.Fatalf("%d were turned away, want %d", f.refused.Load(), many)
}

// Every command that reaches a database refuses one that cannot prove who it is, and
// says why.
func TestCommandsRefuseAServerThatProvesNothing(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t), newAuthority(t)
	f, address, _ := dressed(t, stranger.sign(t, "localhost"), ours.file(t))
	for _, command := range []string{"depth", "jobs", "show 1", "enqueue --queue q", "redrive 1", "migrate up", "migrate status"} {
		cmd := exec.Command("leasetop", strings.Fields(command)...)
		cmd.Env = append(os.Environ(), "DATABASE_URL="+address)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "certificate signed by unknown authority") {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	if n := len(f.who()) + int(f.naked.Load()); n != 0 {
		t.Errorf("%d connections were made all the same", n)
	}
}
