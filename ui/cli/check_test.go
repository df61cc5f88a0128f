package cli

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
)

func TestTheWorstOfAllLimitsIsTheVerdict(t *testing.T) {
	t.Parallel()
	v := queue.Vitals{Dead: 12, Died: 5, Window: 10 * time.Minute, OldestReady: 90 * time.Second, OldestQueue: "emails", Expired: 2}
	for _, c := range []struct {
		max, warn alert.Limits
		change    func(v *queue.Vitals)
		want      Verdict
		says      string
	}{
		{max: alert.Limits{alert.Dead: 12}, want: Fine, says: "OK - 12 dead letters; 0.5 deaths a minute; the oldest ready job has waited 1m30s in emails; 2 leases ran out and nobody takes them back | dead=12;;12;0 dead_rate=0.5;;;0 age=90s;;;0 expired=2;;;0"},
		{max: alert.Limits{alert.Dead: 11}, want: Critical, says: "CRITICAL - 12 dead letters, more than 11 |"},
		{warn: alert.Limits{alert.Dead: 11}, want: Warning, says: "WARNING - 12 dead letters, more than 11 |"},
		{max: alert.Limits{alert.Dead: 11}, warn: alert.Limits{alert.Dead: 5}, want: Critical, says: "CRITICAL - 12 dead letters, more than 11 | dead=12;5;11;0"},
		{max: alert.Limits{alert.Dead: 11}, warn: alert.Limits{alert.Age: 60}, want: Critical, says: "CRITICAL - 12 dead letters, more than 11; the oldest ready job has waited 1m30s in emails, more than 1m (a warning) |"},
		// A count that went no further tells what is more, and not what is within.
		{max: alert.Limits{alert.Dead: 11}, change: func(v *queue.Vitals) { v.DeadAtLeast = true }, want: Critical, says: "CRITICAL - at least 12 dead letters, more than 11 |"},
		{max: alert.Limits{alert.Dead: 12}, change: func(v *queue.Vitals) { v.DeadAtLeast = true }, want: CannotTell, says: "UNKNOWN - dead letters: it was counted no further than 12 |"},
		{max: alert.Limits{alert.Dead: 12, alert.Expired: 0}, change: func(v *queue.Vitals) { v.DeadAtLeast = true }, want: Critical, says: "CRITICAL - 2 leases ran out and nobody takes them back, more than 0; dead letters: it was counted no further than 12 |"},
		{max: alert.Limits{alert.Age: 1}, change: func(v *queue.Vitals) { v.OldestQueue = "a|b\nc\x1b[2J" }, want: Critical, says: "CRITICAL - the oldest ready job has waited 1m30s in a¦b c␛[2J, more than 1s |"},
	} {
		vitals := v
		if c.change != nil {
			c.change(&vitals)
		}
		var out strings.Builder
		options := CheckOptions{Max: c.max, Warn: c.warn}
		err := options.judge(Printer{Out: &out}, vitals, nil)
		var verdict Verdict
		errors.As(err, &verdict)
		if verdict != c.want || (err == nil) != (c.want == Fine) || !strings.HasPrefix(out.String(), c.says) || strings.Count(out.String(), "\n") != 1 || strings.Count(out.String(), "|") != 1 {
			t.Errorf("max %v, warn %v: %v and\n%swant %v and\n%s", c.max, c.warn, err, out.String(), c.want, c.says)
		}
	}
}

// A count goes further than every limit, so that none is left untold.
func TestCountsGoFurtherThanEveryLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		max, warn alert.Limits
		want      int
	}{
		{alert.Limits{alert.Dead: 10}, nil, 100_001},
		{alert.Limits{alert.Dead: 250_000}, alert.Limits{alert.Dead: 10}, 250_001},
		{nil, alert.Limits{alert.DeadRate: 50_000}, 500_001},
		{alert.Limits{alert.Dead: 1e300}, nil, math.MaxInt32},
	} {
		options := CheckOptions{Max: c.max, Warn: c.warn}
		if got := options.cap(); got != c.want {
			t.Errorf("%v, %v: %d, want %d", c.max, c.warn, got, c.want)
		}
	}
}

// A database that takes the connection and never says a word is given up.
func TestCheckOfASilentDatabaseEnds(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	taken := make(chan net.Conn, 16)
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			taken <- conn
		}
	}()
	host, port, _ := net.SplitHostPort(silent.Addr().String())
	where := Where{URL: "host=" + host + " port=" + port + " user=u password=s3cret dbname=d sslmode=disable"}
	options := CheckOptions{Max: alert.Limits{alert.Dead: 1}, Timeout: 300 * time.Millisecond}
	var out strings.Builder
	if err := Check(t.Context(), Printer{Out: &out}, where, options); err != CannotTell || out.String() != "UNKNOWN - no answer within 300ms\n" {
		t.Errorf("%v, %q", err, out.String())
	}

	for len(taken) > 0 {
		(<-taken).Close()
	}
	options.Timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-taken // it waits for an answer
		cancel()
	}()
	out.Reset()
	if err := Check(ctx, Printer{Out: &out}, where, options); err != CannotTell || out.String() != "UNKNOWN - interrupted\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// That all is well is for somebody who heard it.
func TestVerdictThatNobodyReadIsNotFine(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	options := CheckOptions{Max: alert.Limits{alert.Dead: 1}}
	if err := options.judge(Printer{Out: w}, queue.Vitals{Window: time.Minute}, nil); err != CannotTell {
		t.Errorf("%v", err)
	}
}
