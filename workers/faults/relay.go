package faults

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Relay is a way to a server for other processes, which leads through a [Cable]: a
// socket that only this user's processes can reach.
type Relay struct {
	config  *pgx.ConnConfig // its connections lead through the cable
	folder  string
	socket  net.Listener
	ctx     context.Context // ends with the relay
	end     context.CancelFunc
	forward sync.WaitGroup
}

// relayPrefix begins the names of the folders of relays.
const relayPrefix = "leasetop-relay-"

// relayPort is part of the socket's name only.
const relayPort = "5432"

// longestSocket is the shortest there is of the longest names that systems allow, less
// the closing NUL: unix(7).
const longestSocket = 103

// NewRelay makes a relay to the server of config. Where that is reached with TLS, the
// relay does that part. The cable may lead others too, and outlives the relay; nil has the
// relay's connections lead where those of config do, through a cable if that does.
func NewRelay(config *pgx.ConnConfig, cable *Cable) (*Relay, error) {
	r, err := newRelay(config.Copy(), cable)
	if err != nil {
		return nil, fmt.Errorf("make a relay: %w", err)
	}
	return r, nil
}

func newRelay(config *pgx.ConnConfig, cable *Cable) (*Relay, error) {
	if cable != nil {
		cable.Through(config)
	}
	folder, err := os.MkdirTemp("", relayPrefix) // made 0700
	if err == nil && len(socketIn(folder)) > longestSocket {
		_ = os.Remove(folder)
		folder, err = os.MkdirTemp("/tmp", relayPrefix)
	}
	if err != nil {
		return nil, err
	}
	sweepRelays(filepath.Dir(folder))
	socket, err := net.Listen("unix", socketIn(folder))
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	r := &Relay{config: config, folder: folder, socket: socket}
	r.ctx, r.end = context.WithCancel(context.Background())
	r.forward.Go(r.accept)
	return r, nil
}

// socketIn is the name that PostgreSQL's clients look for in a folder.
func socketIn(folder string) string { return filepath.Join(folder, ".s.PGSQL."+relayPort) }

// relayBegins is how long a relay may take from its folder to listening.
const relayBegins = time.Minute

// sweepRelays removes what relays of killed programs left in a folder: sockets on which
// nobody listens.
func sweepRelays(in string) {
	left, _ := filepath.Glob(filepath.Join(in, relayPrefix+"*"))
	for _, folder := range left {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < relayBegins {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			continue // somebody else's: root could remove it, but it is not ours
		}
		client, err := net.Dial("unix", socketIn(folder))
		switch {
		case err == nil:
			_ = client.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.RemoveAll(folder)
		}
	}
}

// URL is a connection string that leads through the relay to the same database as the
// same role. It holds the password, if there is one: do not print it. It does not hold
// an application name, which each process has its own.
func (r *Relay) URL() string {
	query := url.Values{"host": {r.folder}, "port": {relayPort}, "sslmode": {"disable"}}
	for name, value := range r.config.RuntimeParams {
		if name != "application_name" {
			query.Set(name, value)
		}
	}
	if r.config.ConnectTimeout > 0 {
		query.Set("connect_timeout", strconv.Itoa(int((r.config.ConnectTimeout+time.Second-1)/time.Second)))
	}
	u := url.URL{Scheme: "postgres", Path: "/" + r.config.Database, User: url.User(r.config.User)}
	if r.config.Password != "" {
		u.User = url.UserPassword(r.config.User, r.config.Password)
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String()
}

// Close ends the relay and all connections that lead through it. To call it again does
// nothing.
func (r *Relay) Close() {
	r.end()
	_ = r.socket.Close() // which removes the socket
	r.forward.Wait()
	_ = os.RemoveAll(r.folder)
}

func (r *Relay) accept() {
	for {
		client, err := r.socket.Accept()
		switch {
		case err == nil:
			r.forward.Go(func() { r.serve(client) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // too many open files, as a rule
			pause := time.NewTimer(100 * time.Millisecond)
			select {
			case <-pause.C:
			case <-r.ctx.Done():
				pause.Stop()
			}
		}
	}
}

// serve forwards both ways until one end closes.
func (r *Relay) serve(client net.Conn) {
	defer client.Close()
	ctx, gone := context.WithCancel(r.ctx)
	defer gone()
	server, err := r.connect(ctx)
	if err != nil {
		return // the client sees that nobody answers
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		gone()
	})
	_, _ = io.Copy(server, client)
	gone()
	back.Wait()
}

// connect tries the ways to the server in the order of the configuration.
func (r *Relay) connect(ctx context.Context) (net.Conn, error) {
	ways := append([]*pgconn.FallbackConfig{{Host: r.config.Host, Port: r.config.Port, TLSConfig: r.config.TLSConfig}}, r.config.Fallbacks...)
	var last error
	for _, way := range ways {
		network, address := pgconn.NetworkAddress(way.Host, way.Port)
		conn, err := r.config.DialFunc(ctx, network, address)
		if err == nil && way.TLSConfig != nil {
			conn, err = secured(ctx, conn, way.TLSConfig)
		}
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

// secured asks the server for TLS, as a client does before all else.
func secured(ctx context.Context, conn net.Conn, config *tls.Config) (net.Conn, error) {
	answer := make([]byte, 1)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	_, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}) // SSLRequest
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	stop()
	if err == nil && answer[0] != 'S' {
		err = errors.New("the server does not do TLS")
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	over := tls.Client(conn, config)
	if err := over.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return over, nil
}
