package ui

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// noon is the moment at which the samples stand still.
var noon = time.Date(2026, 7, 1, 12, 4, 31, 0, time.UTC)

const sampleProcess = "shop1:4711:9f3c01aa"

func owner(worker string, claim int) string {
	return fmt.Sprintf("%s/%s#%d", sampleProcess, worker, claim)
}

// sampleState is a shop at work: three queues, leases in every condition, dead
// letters, events.
func sampleState() *watch.State {
	ok := watch.Link{OK: true, Since: noon.Add(-time.Hour), Heard: noon}
	s := &watch.State{
		Version: 7,
		Server:  watch.Server{Version: "15.18", User: "app", Host: "db1", Database: "shop", Schema: "leasetop"},
		Clock:   watch.Clock{Skew: 0, Known: true},
		WAL:     ok, Notify: ok, Polling: ok,
	}
	wave := func(base, swing, speed float64) []float64 {
		out := make([]float64, 60)
		for i := range out {
			out[i] = max(0, math.Round(base+swing*math.Sin(float64(i)*speed)+swing/2*math.Sin(float64(i)*speed*2.7)))
		}
		return out
	}
	s.Depths = watch.Depths{Source: watch.FromWAL, At: noon, Read: noon, Queues: []watch.QueueDepth{
		{QueueDepth: queue.QueueDepth{Queue: "emails", Ready: 1204, Scheduled: 310, Processing: 4, Completed: 184223, CompletedExact: true, Failed: 7, Dead: 31, OldestReady: 134 * time.Second}, Finished: 61_344, Rates: watch.FromWAL, Rate: watch.Rate{In: 41, Out: 39.5, Failed: 2.1, Dead: 0.1}, Spark: wave(38, 14, 0.21), SparkIn: wave(41, 22, 0.12)},
		{QueueDepth: queue.QueueDepth{Queue: "images", Ready: 12, Processing: 3, Completed: 9310, CompletedExact: true, Dead: 2, OldestReady: 3 * time.Second}, Finished: 1214, Rates: watch.FromWAL, Rate: watch.Rate{In: 2.2, Out: 2.4, Reclaimed: 0.1}, Spark: wave(3, 3, 0.5), SparkIn: wave(3, 2, 0.4)},
		{QueueDepth: queue.QueueDepth{Queue: "reports", Ready: 50_317, Scheduled: 9, Completed: 412, OldestReady: 41*time.Minute + 2*time.Second}, Rates: watch.FromWAL, Spark: make([]float64, 60), SparkIn: make([]float64, 60)},
	}}
	s.Traffic = watch.Traffic{
		Source: watch.FromWAL, Rate: watch.Rate{In: 43.2, Out: 41.9, Failed: 2.1, Reclaimed: 0.1, Dead: 0.1}, Changes: 128,
		Window: 10 * time.Minute, DeadPerMinute: 0.4, Expired: 2, Pickup: watch.Latency{Count: 2511, P50: 3 * time.Millisecond, P99: 40 * time.Millisecond},
	}
	addTraffic(s)
	s.Pauses = watch.Pauses{Source: watch.Polled, Read: noon}
	s.Every = time.Second
	lease := func(id int64, q, kind, worker string, attempts int, age, left time.Duration) watch.Lease {
		return watch.Lease{JobID: id, Queue: q, Kind: kind, Attempts: attempts, MaxAttempts: 5, Owner: owner(worker, int(id%97)), LockedAt: noon.Add(-age), ExpiresAt: noon.Add(left)}
	}
	s.Leases = watch.Leases{Source: watch.FromWAL, At: noon, Read: noon, List: []watch.Lease{
		lease(87002, "images", "render", "w5", 1, 31*time.Second, -time.Second),
		lease(88123, "emails", "send", "w3", 2, 27*time.Second, 3*time.Second),
		lease(88131, "images", "render", "w6", 1, 19*time.Second, 11*time.Second),
		lease(88140, "emails", "charge", "w1", 1, 6*time.Second, 24*time.Second),
		lease(88141, "emails", "send", "w1", 1, 4*time.Second, 26*time.Second),
		lease(88142, "emails", "send", "w2", 3, 1*time.Second, 29*time.Second),
	}}
	s.Leases.List = append(s.Leases.List, watch.Lease{JobID: 88150, Queue: "images", Kind: "render", Attempts: 1, MaxAttempts: 5, Owner: "node-worker-17", LockedAt: noon.Add(-time.Second), ExpiresAt: noon.Add(59 * time.Second)})
	s.Leases.Total = len(s.Leases.List)
	errors := []string{
		"SMTP 421 rate limited by mx1.example.com, try again later",
		"charge declined: insufficient_funds (request req_8s7df6g)",
		"panic: runtime error: index out of range [3] with length 3",
		"worker lost 5 times",
		"Post \"https://hooks.example.com/v2/orders\": dial tcp 10.1.4.7:443: connect: connection refused",
	}
	s.Dead = watch.Dead{Source: watch.Notice, At: noon, Read: noon, Signal: 3, Total: 40}
	for i := range 40 {
		died := noon.Add(-time.Duration(4+i*i*7) * time.Second)
		j := queue.Job{ID: int64(88007 - 13*i), Queue: "emails", Kind: "send", Status: queue.Dead, Attempts: 5, MaxAttempts: 5, LastError: errors[i*i%len(errors)], DiedAt: &died, CreatedAt: died.Add(-time.Hour), UpdatedAt: died}
		if i%3 == 1 {
			j.Kind, j.Status = "charge", queue.Failed
		}
		if i%7 == 2 {
			j.Queue, j.Kind, j.Attempts = "images", "render", 1
		}
		s.Dead.Latest = append(s.Dead.Latest, j)
	}
	event := func(ago float64, what watch.What, id int64, q, kind, by string, attempt int, note string) {
		e := watch.Event{At: noon.Add(-time.Duration(ago * float64(time.Second))), Source: watch.FromWAL, What: what, Seq: uint64(len(s.Events) + 1), Count: 1, JobID: id, Queue: q, Kind: kind, Attempt: attempt, Note: note}
		if by != "" {
			e.Owner = owner(by, 3)
		}
		s.Events = append(s.Events, e)
	}
	for i := 12; i > 0; i-- {
		event(float64(i)*3+1.4, watch.Claimed, int64(88100-i), "emails", "send", "w2", 1, "")
		event(float64(i)*3, watch.Completed, int64(88100-i), "emails", "send", "w2", 1, "")
	}
	event(2.6, watch.Enqueued, 88151, "emails", "send", "", 0, "")
	event(2.2, watch.Retried, 88120, "emails", "charge", "w1", 1, "attempt 1 of 5, again in 2m")
	event(1.9, watch.Completed, 88119, "emails", "send", "w2", 1, "")
	event(1.2, watch.Buried, 88007, "emails", "send", "w3", 5, "attempt 5 of 5")
	event(0.8, watch.Claimed, 88142, "emails", "send", "w2", 3, "")
	event(0.3, watch.Redriven, 87990, "emails", "charge", "", 0, "by ann@shop1")
	return s
}

// addTraffic makes the rates of all queues together those of the queues there are.
func addTraffic(s *watch.State) {
	var sum totals
	sum.count(s.Depths.Queues)
	s.Traffic.Rate, s.Traffic.Spark, s.Traffic.SparkIn = sum.sum.Rate, sum.sum.Spark, sum.sum.SparkIn
}

// noStream is why a feed without a stream polls.
const noStream = "wal_level is replica: ALTER SYSTEM SET wal_level = 'logical' and restart PostgreSQL"

// polled makes of the state what it is without a stream: counts that are read now and
// then and go no further than a cap, differences of them instead of rates.
func polled(s *watch.State, reason string) {
	s.WAL = watch.Link{Since: noon.Add(-time.Hour), Reason: reason}
	s.Traffic, s.Every = watch.Traffic{}, 1030*time.Millisecond
	s.Depths.Source, s.Leases.Source = watch.Polled, watch.Polled
	for i := range s.Depths.Queues {
		q := &s.Depths.Queues[i]
		q.Finished, q.Rates, q.Rate = 0, watch.Polled, watch.Rate{In: q.Rate.In, Out: q.Rate.Out}
		if most := int64(50_000); q.Ready > most {
			q.Ready, q.AtLeast.Ready = most, true
			q.Rates, q.Rate, q.Spark, q.SparkIn = watch.Unknown, watch.Rate{}, nil, nil
		}
	}
}

// silent makes a connection one that was lost so long ago.
func silent(l *watch.Link, ago time.Duration, reason string) {
	*l = watch.Link{Since: noon.Add(-ago), Heard: noon.Add(-ago), Reason: reason}
}

func sampleWorkers() []workers.Snapshot {
	run := func(id int64, q, kind string, attempt int, ran, trust time.Duration) workers.Running {
		return workers.Running{JobID: id, Queue: q, Kind: kind, Attempt: attempt, Since: noon.Add(-ran), Trust: noon.Add(trust)}
	}
	worker := func(n int, state workers.State, since time.Duration, queues string, slots int, done, failed uint64, running ...workers.Running) workers.Snapshot {
		name := fmt.Sprintf("w%d", n)
		return workers.Snapshot{Name: name, State: state, Since: noon.Add(-since), Queues: strings.Split(queues, ","), Slots: slots, Running: running, Completed: done, Failed: failed, Processed: done + failed, Owner: sampleProcess + "/" + name}
	}
	all := []workers.Snapshot{
		worker(1, workers.Busy, 6*time.Second, "emails,images", 4, 61230, 41, run(88140, "emails", "charge", 1, 6*time.Second, 21*time.Second), run(88141, "emails", "send", 1, 4*time.Second, 23*time.Second)),
		worker(2, workers.Busy, time.Second, "emails", 2, 60114, 12, run(88142, "emails", "send", 3, time.Second, 26*time.Second)),
		worker(3, workers.Draining, 22*time.Second, "emails", 2, 51002, 9, run(88123, "emails", "send", 2, 27*time.Second, time.Second)),
		worker(4, workers.Idle, 3*time.Minute, "images", 2, 812, 0),
		worker(5, workers.Crashed, 31*time.Second, "images,reports", 3, 4011, 3),
		worker(6, workers.Frozen, 19*time.Second, "images", 1, 402, 1, run(88131, "images", "render", 1, 19*time.Second, 8*time.Second)),
	}
	all[4].Lost = 1
	all[5].Lost, all[5].Fenced = 2, 2
	return all
}

func sampleNews() []workers.Event {
	return []workers.Event{
		{Seq: 1, At: noon.Add(-31 * time.Second), Worker: "w5", What: workers.Killed, Text: "1 job abandoned without clean-up, lease runs out in 5.6s"},
		{Seq: 2, At: noon.Add(-19 * time.Second), Worker: "w6", What: workers.Froze},
		{Seq: 3, At: noon.Add(-1500 * time.Millisecond), What: workers.ReapedBack, JobID: 87001, Queue: "images", Owner: owner("w5", 9), Late: 121 * time.Millisecond, Watched: true},
		{Seq: 4, At: noon.Add(-500 * time.Millisecond), Worker: "w6", What: workers.StaleFenced, JobID: 86990, Queue: "images", Owner: owner("w1", 12), Text: "late complete of job 86990 fenced: now owned by " + owner("w1", 12)},
	}
}

// sampleJob is one dead letter in full.
func sampleJob(id int64) *queue.Job {
	died := noon.Add(-4 * time.Second)
	at := func(ago time.Duration) time.Time { return died.Add(-ago) }
	smtp := "SMTP 421 rate limited by mx1.example.com, try again later"
	return &queue.Job{
		ID: id, Queue: "emails", Kind: "send", Status: queue.Dead, Attempts: 5, MaxAttempts: 5, RunAt: queue.At(at(time.Hour)),
		LastError: smtp, DiedAt: &died, CreatedAt: at(3 * time.Hour), UpdatedAt: died, IdempotencyKey: "order-77123/receipt",
		Errors: []queue.Attempt{
			{Attempt: 1, At: at(62 * time.Minute), Worker: owner("w1", 2), Outcome: "retry", Error: "dial tcp 10.1.4.7:25: connect: connection refused"},
			{Attempt: 2, At: at(60 * time.Minute), Worker: owner("w2", 2), Outcome: "retry", Error: "dial tcp 10.1.4.8:25: connect: connection refused"},
			{Attempt: 3, At: at(31 * time.Minute), Worker: owner("w5", 2), Outcome: "lost", Error: "lease ran out, worker lost"},
			{Attempt: 4, At: at(15 * time.Minute), Worker: owner("w1", 8), Outcome: "retry", Error: smtp},
			{Attempt: 5, At: died, Worker: owner("w3", 11), Outcome: "buried", Error: smtp},
		},
		Payload: json.RawMessage(`{"to": "jane@example.com", "order": {"id": 1970670598291982290, "total": 129.90, "currency": "EUR", "lines": [{"sku": "A-17", "qty": 2}]}, "template": "receipt", "smtp": {"user": "shop", "password": "hunter2"}, "attachments": [], "retry": null, "priority": true, "weights": [1e400, -0]}`),
	}
}
