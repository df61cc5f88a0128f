package queue

import (
	"testing"
	"time"
)

// Poolers that share sessions between transactions need a mode in which pgx prepares
// nothing under a name. Every operation works in each.
func TestEveryOperationInEveryModeOfPgx(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			plain := open(t)
			q := must[*Queue](t)(Open(t.Context(), plain.Pool().Config().ConnString()+"&default_query_exec_mode="+mode, Options{}))
			t.Cleanup(q.Close)
			for operation := range every(nil, Lease{}, 0) {
				lease, dead := claimed(t, plain, NewJob{Queue: "emails"}, time.Minute), buried(t, plain, NewJob{Queue: "emails"})
				if err := every(q, lease, dead)[operation](t.Context()); err != nil {
					t.Errorf("%s: %v", operation, err)
				}
				exec(t, plain, "truncate leasetop.jobs, leasetop.queues, leasetop.jobs_archive, leasetop.once")
				plain.Forget("emails")
			}

			at := At(time.Date(2020, 2, 29, 12, 0, 0, 123456000, time.UTC))
			want := []NewJob{
				{Queue: "a", RunAt: at, Kind: "it's \\ \"quoted\"", Payload: []byte(`{"n": 1970670598291982290, "t": "\\ ' \u00e4"}`), IdempotencyKey: "k'\\"},
				{Queue: "a", RunAt: Time{Infinity: -1}},
				{Queue: "a", RunAt: Time{Infinity: 1}},
				{Queue: "a", Delay: time.Hour},
			}
			for _, one := range [][]NewJob{want[:1], want[1:]} {
				must[[]Enqueued](t)(q.Enqueue(t.Context(), one...))
			}
			got := take(t, q, "a", 10)
			if len(got) != 2 || !got[0].RunAt.Always() || !got[1].RunAt.Equal(at.Time) || got[1].Kind != want[0].Kind ||
				string(got[1].Payload) != `{"n": 1970670598291982290, "t": "\\ ' ä"}` || got[1].IdempotencyKey != want[0].IdempotencyKey {
				t.Errorf("claimed %+v", got)
			}
		})
	}
}
