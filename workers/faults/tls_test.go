package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// behindTLS has the server of config be reached by TLS over TCP, and by nothing else.
func behindTLS(t *testing.T, config *pgx.ConnConfig) *pgx.ConnConfig {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	itself := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"db"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, itself, itself, key.Public(), key)
	if err == nil {
		itself, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	network, socket := pgconn.NetworkAddress(config.Host, config.Port)
	shows := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	var doors sync.WaitGroup
	doors.Go(func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			doors.Go(func() {
				defer outer.Close()
				if _, err := io.ReadFull(outer, make([]byte, 8)); err != nil {
					return
				}
				_, _ = outer.Write([]byte("S"))
				inner, err := net.Dial(network, socket)
				if err != nil {
					return
				}
				defer inner.Close()
				over := tls.Server(outer, shows)
				doors.Go(func() {
					_, _ = io.Copy(over, inner)
					outer.Close()
				})
				_, _ = io.Copy(inner, over)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		doors.Wait()
	})
	config = config.Copy()
	address := listener.Addr().(*net.TCPAddr)
	config.Host, config.Port, config.Fallbacks = address.IP.String(), uint16(address.Port), nil
	config.TLSConfig = &tls.Config{ServerName: "db", RootCAs: x509.NewCertPool()}
	config.TLSConfig.RootCAs.AddCert(itself)
	return config
}

func TestCableLiesBelowTLS(t *testing.T) {
	t.Parallel()
	config := behindTLS(t, configOf(t, testdb.New(t)))
	c := newCable(t)
	c.Through(config)
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	c.Stall()
	answer := ask(t.Context(), conn)
	held(t, c)
	if !pending(answer) {
		t.Error("it was answered during the partition")
	}
	c.Heal()
	if err := receive(t, "the answer", answer); err != nil {
		t.Error(err)
	}
}

func TestRelayDoesTLSWhereTheServerIsReachedWithIt(t *testing.T) {
	t.Parallel()
	config := behindTLS(t, configOf(t, testdb.New(t)))
	r := relay(t, config, newCable(t))
	conn, err := pgx.Connect(t.Context(), r.URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := receive(t, "the answer", ask(t.Context(), conn)); err != nil {
		t.Error(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	config.TLSConfig.RootCAs = x509.NewCertPool() // which knows nobody
	if conn, err := pgx.Connect(t.Context(), relay(t, config, newCable(t)).URL()); err == nil {
		_ = conn.Close(t.Context())
		t.Error("it trusts whoever answers")
	}
}

func TestRelayGoesWithoutTLSWhereThatIsOnlyPreferred(t *testing.T) {
	t.Parallel()
	config := configOf(t, testdb.New(t)) // by a Unix socket, where the server never does TLS
	config.TLSConfig = &tls.Config{ServerName: "db"}
	r := relay(t, config, newCable(t))
	if conn, err := pgx.Connect(t.Context(), r.URL()); err == nil {
		_ = conn.Close(t.Context())
		t.Error("it goes without TLS where that is required")
	}
	config.Fallbacks = []*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port}}
	conn, err := pgx.Connect(t.Context(), relay(t, config, newCable(t)).URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
