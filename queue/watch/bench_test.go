package watch

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Run alone, on a quiet machine:
//
//	LEASETOP_BENCH_FULL=1 go test -run '^$' -bench . ./queue/watch/
//
// Only ratios within one run mean anything.

// What a job's life writes: enqueued, claimed, renewed, completed. The first procedure
// commits each change by itself, the second those of one kind at once.
const lives = `
create procedure one_by_one(lives int, worker text) language plpgsql as $$
declare job bigint;
begin
  for n in 1..lives loop
    insert into leasetop.jobs (queue, kind, payload)
      values ('emails', 'send', '{"to": "user@example.com", "template": "welcome"}') returning id into job;
    commit;
    update leasetop.jobs set status = 'processing', attempts = attempts + 1, locked_at = now(), locked_by = worker || '#' || n,
      lease_expires_at = now() + interval '30 s', updated_at = now() where id = job;
    commit;
    update leasetop.jobs set lease_expires_at = now() + interval '30 s', updated_at = now() where id = job;
    commit;
    update leasetop.jobs set status = 'completed', locked_at = null, locked_by = null, lease_expires_at = null, updated_at = now() where id = job;
    commit;
  end loop;
end $$;
create procedure together(lives int, worker text) language plpgsql as $$
declare first bigint;
begin
  with fresh as (insert into leasetop.jobs (queue, kind, payload)
    select 'emails', 'send', '{"to": "user@example.com", "template": "welcome"}' from generate_series(1, lives) returning id)
  select min(id) into first from fresh;
  commit;
  update leasetop.jobs set status = 'processing', attempts = attempts + 1, locked_at = now(), locked_by = worker || '#' || first,
    lease_expires_at = now() + interval '30 s', updated_at = now() where id >= first;
  commit;
  update leasetop.jobs set lease_expires_at = now() + interval '30 s', updated_at = now() where id >= first;
  commit;
  update leasetop.jobs set status = 'completed', locked_at = null, locked_by = null, lease_expires_at = null, updated_at = now() where id >= first;
  commit;
end $$`

// Changes a second through the feed, until State has them all, beside those that
// pg_recvlogical throws away: the same WAL, from slots made before it, in turns (A, B,
// B, A, A, B, B, A), of which the median counts. 200,000 changes and more, or half a
// million and more with LEASETOP_BENCH_FULL.
func BenchmarkFeed(b *testing.B) {
	n := 50_000
	if os.Getenv("LEASETOP_BENCH_FULL") != "" {
		n = 125_000
	}
	const turns = 4
	for _, load := range []struct {
		name    string
		writers int
		live    string // a procedure
		lives   int    // of one call of it, 4 changes each
		calls   int    // by each writer
	}{
		{"1 writer", 1, "call one_by_one($1, $2)", n, 1},
		{"16 writers", 16, "call one_by_one($1, $2)", n / 16, 1},
		{"10000 together", 1, "call together($1, $2)", 10_000, 3 * n / 10_000}, // they go faster
	} {
		b.Run(load.name, func(b *testing.B) {
			server := testdb.Server(b, "max_wal_size=8GB", "max_wal_senders=20", "max_replication_slots=20")
			url := testdb.On(b, server)
			conn := client(b, url)
			exec(b, conn, lives)
			for b.Loop() {
				var slots [turns]string
				for i := range slots {
					slots[i] = fmt.Sprintf("nothing_%d_%d", b.N, i)
					exec(b, conn, "select pg_create_logical_replication_slot($1, 'pgoutput')", slots[i])
				}
				var feeds [turns]heldFeed
				for i := range feeds {
					feeds[i] = holdFeed(b, url)
				}
				var writing sync.WaitGroup
				for w := range load.writers {
					writer := client(b, url)
					exec(b, writer, "set leasetop_wakeup.quiet = on")
					writing.Go(func() {
						for range load.calls {
							if _, err := writer.Exec(b.Context(), load.live, load.lives, fmt.Sprintf("worker-host:4711:bench/w%d", w)); err != nil {
								b.Error(err)
							}
						}
					})
				}
				writing.Wait()
				exec(b, conn, "insert into leasetop.jobs (queue) values ('last')")
				var end string
				do(b, conn.QueryRow(b.Context(), "select pg_current_wal_flush_lsn()::text").Scan(&end))

				var feed, nothing costs
				for i := range turns {
					if i%2 == 0 {
						feed.add(feeds[i].read(b))
						nothing.add(intoNothing(b, url, slots[i], end))
					} else {
						nothing.add(intoNothing(b, url, slots[i], end))
						feed.add(feeds[i].read(b))
					}
				}
				written := float64(4*load.writers*load.calls*load.lives + 1)
				b.ReportMetric(written/feed.took(), "feed-changes/s")
				b.ReportMetric(written/nothing.took(), "recvlogical-changes/s")
				b.ReportMetric(nothing.took()/feed.took(), "ratio")
				b.ReportMetric(1e6*feed.spent()/written, "feed-µs-cpu/change")
				b.ReportMetric(1e6*nothing.spent()/written, "recvlogical-µs-cpu/change")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// costs are how long each turn took, and how much of a processor's time at this end.
type costs struct{ elapsed, busy []time.Duration }

func (c *costs) add(took, spent time.Duration) {
	c.elapsed, c.busy = append(c.elapsed, took), append(c.busy, spent)
}

func (c *costs) took() float64  { return middleOf(c.elapsed) }
func (c *costs) spent() float64 { return middleOf(c.busy) }

// middleOf is the median of an even number of durations, in seconds.
func middleOf(list []time.Duration) float64 {
	slices.Sort(list)
	return (list[len(list)/2-1] + list[len(list)/2]).Seconds() / 2
}

// spent is the processor time of this process.
func spent(b *testing.B) time.Duration {
	var u syscall.Rusage
	do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heldFeed is a feed that has attached, and reads nothing yet.
type heldFeed struct {
	*Feed
	conn *heldConn
}

func holdFeed(b *testing.B, url string) heldFeed {
	b.Helper()
	q, backlog := openHeld(b, url)
	f := start(b, q, Options{})
	await(b, f, "all connections", attached)
	return heldFeed{f, backlog.wait(b)}
}

// read lets the feed read until the last change is in State.
func (f heldFeed) read(b *testing.B) (took, cpu time.Duration) {
	b.Helper()
	began, before := time.Now(), spent(b)
	f.conn.let()
	await(b, f.Feed, "the last change", func(s *State) bool {
		n := len(s.Events)
		return n > 0 && s.Events[n-1].Queue == "last"
	})
	took, cpu = time.Since(began), spent(b)-before
	f.Close()
	return took, cpu
}

// intoNothing has pg_recvlogical read a slot to its end.
func intoNothing(b *testing.B, url, slot, end string) (took, cpu time.Duration) {
	b.Helper()
	cmd := osexec.CommandContext(b.Context(), recvlogical(b), "--dbname", url, "--slot", slot, "--start", "--no-loop", "--endpos", end,
		"--option", "proto_version=1", "--option", "publication_names=leasetop_jobs", "--option", "binary=true", "--file", os.DevNull)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("pg_recvlogical: %v\n%s", err, out)
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// recvlogical is where pg_recvlogical is: beside the server's programs, or in PATH.
func recvlogical(b *testing.B) string {
	b.Helper()
	dir, err := local.Find(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	beside := filepath.Join(dir, "pg_recvlogical")
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	path, err := osexec.LookPath("pg_recvlogical")
	if err != nil {
		b.Skip("pg_recvlogical, which is measured against, is not beside PostgreSQL's server programs, nor in PATH")
	}
	return path
}
