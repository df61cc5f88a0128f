package queue

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A name that one end takes is good at the other: whoever puts jobs into a queue, takes them
// out of it or pauses it goes by one rule.
func TestOneRuleForTheNamesOfQueuesAndKinds(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, says := range map[string]string{
		"":                       "the queue has no name: name one",
		"trail ":                 `queue "trail " begins or ends with a blank: leave it out`,
		"\tlead":                 `queue "\tlead" begins or ends with a blank: leave it out`,
		"\u00a0":                 "begins or ends with a blank",
		"a\xff":                  "PostgreSQL stores only UTF-8 without NUL",
		"a\x00":                  "PostgreSQL stores only UTF-8 without NUL",
		strings.Repeat("q", 256): "queue of 256 bytes: at most 255 are allowed",
		"in the middle":          "", "日本 語": "", "a\tb": "", "*": "", "'": "", strings.Repeat("q", 255): "",
	} {
		for end, act := range map[string]func(context.Context) error{
			"check":   func(context.Context) error { return CheckName("queue", name) },
			"enqueue": func(ctx context.Context) error { _, err := q.Enqueue(ctx, NewJob{Queue: name}); return err },
			"bulk":    func(ctx context.Context) error { _, err := q.EnqueueMany(ctx, []NewJob{{Queue: name}}); return err },
			"claim": func(ctx context.Context) error {
				_, err := q.Claim(ctx, ClaimRequest{Queue: name, Owner: owner(), Lease: time.Minute, Limit: 1})
				return err
			},
			"pause": func(ctx context.Context) error { _, err := q.Pause(ctx, ann, "", name); return err },
		} {
			if err := act(t.Context()); (err == nil) != (says == "") || says != "" && !strings.Contains(err.Error(), says) {
				t.Errorf("%s %q: %v\nwant %s", end, name, err, says)
			}
		}
		kind := strings.ReplaceAll(says, "queue", "kind")
		if _, err := q.Enqueue(t.Context(), NewJob{Queue: "a", Kind: name}); name != "" && ((err == nil) != (kind == "") || kind != "" && !strings.Contains(err.Error(), kind)) {
			t.Errorf("kind %q: %v\nwant %s", name, err, kind)
		}
	}
	// What another program wrote is found, and its pause can be ended.
	exec(t, q, "insert into leasetop.jobs (queue) values ('trail ')")
	exec(t, q, "insert into leasetop.queues (queue, paused_at, paused_by) values ('trail ', now(), 'psql')")
	if jobs, _, err := q.List(t.Context(), Filter{Queue: "trail "}, Page{}); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	if resumed, err := q.Resume(t.Context(), "trail "); err != nil || len(resumed) != 1 {
		t.Errorf("resumed %q, %v", resumed, err)
	}
}
