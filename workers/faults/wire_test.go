package faults

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// piped is a connection through the cable and its far end.
func piped(t testing.TB, c *Cable) (client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err = c.dial(t.Context(), "tcp", listener.Addr().String(), new(net.Dialer).DialContext)
	if err == nil {
		server, err = listener.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestDeadlinesAreHonouredOnAStalledCableAndTheConnectionIsOfUseAfterwards(t *testing.T) {
	t.Parallel()
	c := newCable(t)
	client, server := piped(t, c)
	c.Stall()
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); !timedOut(err) {
		t.Errorf("a read beyond its deadline: %v", err)
	}
	reading := make(chan error, 1)
	if err := client.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := client.Read(make([]byte, 1))
		reading <- err
	}()
	if err := client.SetDeadline(time.Unix(1, 0)); err != nil { // as pgx ends a read
		t.Fatal(err)
	}
	if err := receive(t, "the end of the read", reading); !timedOut(err) {
		t.Errorf("a read whose deadline comes while it waits: %v", err)
	}
	if _, err := client.Write([]byte("x")); !timedOut(err) {
		t.Errorf("a write beyond its deadline: %v", err)
	}
	if err := client.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	written := 0
	write := func() error {
		if err := client.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := client.Write(make([]byte, 1024))
		written += n
		if err != nil && !timedOut(err) {
			t.Fatal(err)
		}
		return err
	}
	for written < window { // a slow machine meets the deadline before there is no more room
		_ = write()
	}
	if err := write(); err == nil {
		t.Error("more was written than there is room")
	}
	if err := client.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	c.Heal()
	if n, err := io.CopyN(io.Discard, server, int64(written)); err != nil {
		t.Errorf("%d bytes arrived: %v", n, err)
	}
	if _, err := server.Write([]byte("y")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func timedOut(err error) bool {
	var net net.Error
	return errors.As(err, &net) && net.Timeout()
}

func TestPartitionHidesThatTheServerHasGone(t *testing.T) {
	t.Parallel()
	c := newCable(t)
	client, server := piped(t, c)
	c.Stall()
	if _, err := server.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	server.Close()
	read := make(chan string, 1)
	go func() {
		all, err := io.ReadAll(client)
		read <- fmt.Sprint(string(all), err)
	}()
	held(t, c)
	if !pending(read) {
		t.Error("it was told during the partition")
	}
	c.Heal()
	if got := receive(t, "the end", read); got != "last words<nil>" {
		t.Errorf("read %q", got)
	}
}

// A result of many chunks is late once, not once for each.
func TestDelayedBytesArriveInOrderAndNotBeforeTheirTime(t *testing.T) {
	t.Parallel()
	const late, chunks = 30 * time.Millisecond, 50
	c := newCable(t)
	client, server := piped(t, c)
	c.Delay(late)
	began := time.Now()
	for i := range chunks {
		if _, err := fmt.Fprintf(client, "%03d", i); err != nil {
			t.Fatal(err)
		}
	}
	sent := time.Since(began)
	got := make([]byte, 3*chunks)
	if _, err := io.ReadFull(server, got); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < late {
		t.Errorf("it arrived after %v (sent within %v)", took, sent)
	}
	for i := range chunks {
		if string(got[3*i:3*i+3]) != fmt.Sprintf("%03d", i) {
			t.Fatalf("out of order: %s", got)
		}
	}
	began = time.Now()
	if _, err := server.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(got); err != nil || time.Since(began) < late {
		t.Errorf("back after %v: %v", time.Since(began), err)
	}
	if c.String() != "late by 30ms" {
		t.Errorf("it is %s", c)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	url := testdb.New(b)
	for _, through := range []bool{false, true} {
		b.Run(fmt.Sprintf("cable=%v", through), func(b *testing.B) {
			config := configOf(b, url)
			if through {
				newCable(b).Through(config)
			}
			conn, err := pgx.ConnectConfig(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close(b.Context())
			for b.Loop() {
				if err := <-ask(b.Context(), conn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What hangs in a partition stays there, also when its sender gives up.
func TestClosedConnectionKeepsWhatItWroteUntilTheCableIsHealed(t *testing.T) {
	t.Parallel()
	c := newCable(t)
	client, server := piped(t, c)
	c.Stall()
	if _, err := client.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := server.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := server.Read(make([]byte, 10)); !timedOut(err) {
		t.Errorf("during the partition %d bytes arrived: %v", n, err)
	}
	if err := server.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	c.Heal()
	if all, err := io.ReadAll(server); string(all) != "late" || err != nil {
		t.Errorf("%q arrived: %v", all, err)
	}
}
