package watch

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// parcels is a connection on which bytes come in parcels.
type parcels struct {
	net.Conn
	come [][]byte
}

func (c *parcels) Read(p []byte) (int, error) {
	if len(c.come) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.come[0])
	if c.come[0] = c.come[0][n:]; len(c.come[0]) == 0 {
		c.come = c.come[1:]
	}
	return n, nil
}

func (c *parcels) Write(p []byte) (int, error) { return len(p), nil }

// gathers is a gathering connection that only says that it would rest.
func gathers(conn net.Conn) (g *gathering, rested *int) {
	rested = new(int)
	return &gathering{Conn: conn, buffer: make([]byte, 64<<10), doze: func(time.Duration) { *rested++ }}, rested
}

func TestGatheringLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		come := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 1, 100_000)).Draw(t, "parcels")
		sent := bytes.Join(come, nil)
		g, _ := gathers(&parcels{come: come})
		var got []byte
		p := make([]byte, rapid.IntRange(1, 100_000).Draw(t, "buffer"))
		for {
			n, err := g.Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		if !bytes.Equal(got, sent) {
			t.Fatalf("%d bytes became %d others", len(sent), len(got))
		}
	})
}

func TestGatheringRestsLongerTheLessComes(t *testing.T) {
	t.Parallel()
	some := func(n, size int) (list [][]byte) {
		for range n {
			list = append(list, make([]byte, size))
		}
		return list
	}
	come := slices.Concat(some(7, 100), some(2, 5<<10), some(6, 20<<10), some(1, 100))
	g, _ := gathers(&parcels{come: come})
	var rests []int64
	for range come {
		_, _ = g.Read(make([]byte, 64<<10))
		rests = append(rests, g.rest.Microseconds())
	}
	want := []int64{
		100, 200, 400, 800, 1600, 2000, 2000, // little each time
		2000, 2000, // enough
		1000, 500, 250, 125, 0, 0, // much: at last it reads as fast as it can
		100, // little again
	}
	if !slices.Equal(rests, want) {
		t.Errorf("it rests %d µs\nwant     %d", rests, want)
	}
}

func TestGatheringDoesNotRestForAnAnswerNorAfterAWhile(t *testing.T) {
	t.Parallel()
	g, rested := gathers(&parcels{come: [][]byte{{1}, {2}, {3}, {4}}})
	read := func() { _, _ = g.Read(make([]byte, 10)) }
	g.rest, g.came = time.Hour, time.Now()
	if read(); *rested != 1 {
		t.Errorf("it did not rest, though something came just now")
	}
	g.rest, g.came = time.Hour, time.Now().Add(-2*time.Hour)
	if read(); *rested != 1 {
		t.Errorf("it rested, though nothing had come for long")
	}
	g.rest = time.Hour
	_, _ = g.Write([]byte("?"))
	if read(); *rested != 1 {
		t.Errorf("it rested, though it had asked for something")
	}
	g.rest = time.Hour
	if read(); *rested != 2 {
		t.Errorf("it did not rest again")
	}
}

func TestGatheringEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	g, _ := gathers(here)
	_ = g.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := g.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	_ = g.Close()
	if _, err := g.Read(make([]byte, 10)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed, it ended with %v", err)
	}
}
