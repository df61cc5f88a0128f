package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// deployAfter is how long after it was first missed a template is deployed.
const deployAfter = 15 * time.Second

// kinds are the kinds of jobs the demonstration makes up, and who does them.
var kinds = map[string]func(*company, context.Context, *queue.Job) error{
	"send_receipt":   (*company).sendMail,
	"send_welcome":   (*company).sendMail,
	"password_reset": (*company).sendMail,
	"send_winback":   (*company).sendMail,
	"resize":         (*company).drawImage,
	"thumbnail":      (*company).drawImage,
	"watermark":      (*company).drawImage,
	"monthly_report": (*company).writeReport,
	"export_csv":     (*company).writeReport,
}

// company is the outside world of the demonstration's handlers.
type company struct {
	q    *queue.Queue
	pace float64 // how long work takes, 1 being life-like; tests hurry
	// outside is what takes the mails and has the images.
	outside *faults.Dependency
}

// Named is what worker processes know the handlers by: see [faults.ProcessOptions].
const Named = "demonstration"

func init() {
	faults.Register(Named, func(q *queue.Queue) *workers.Handlers {
		return Handlers(q, faults.NewDependency(rand.Uint64()), faults.KillSelf)
	})
}

// Handlers do the demonstration's jobs, any other job of its queues by name, and what
// [faults.Poison] is of. They call outside, and have the worker that runs the worst of the
// poisons killed.
func Handlers(q *queue.Queue, outside *faults.Dependency, kill func(*queue.Job)) *workers.Handlers {
	h := handlers(&company{q, 1, outside})
	faults.Poison(h, kill)
	return h
}

func handlers(c *company) *workers.Handlers {
	h := workers.NewHandlers()
	for kind, do := range kinds {
		h.Kind(kind, func(ctx context.Context, job *queue.Job) error { return do(c, ctx, job) }, workers.WithBackoff(soon))
	}
	for _, name := range Queues() {
		h.Queue(name, c.doAnything, workers.WithBackoff(soon))
	}
	return h
}

// soon is the demonstration's backoff: seconds, so that a viewer sees the retry.
func soon(attempts int) time.Duration {
	delay := 2 * time.Second << min(max(attempts-1, 0), 3)
	return delay + rand.N(delay/2)
}

func (c *company) sendMail(ctx context.Context, job *queue.Job) error {
	var m mail
	if err := read(job, &m); err != nil {
		return err
	}
	if strings.HasPrefix(m.Template, "winback") {
		if err := c.findTemplate(ctx, m.Template); err != nil {
			return err
		}
	}
	if err := c.take(ctx, 300*time.Millisecond, 1500*time.Millisecond); err != nil {
		return err
	}
	_, host, _ := strings.Cut(m.To, "@")
	switch {
	case host == busyHost && job.Attempts == 1:
		return fmt.Errorf("SMTP 421 4.7.0 %s: rate limited, try again later", host)
	case host == fullHost:
		return fmt.Errorf("SMTP 452 4.2.2 %s: mailbox of %s is full", host, m.To)
	}
	if err := c.outside.Call(ctx); err != nil {
		return fmt.Errorf("hand the mail over: %w", err)
	}
	return c.did(ctx, job, fmt.Sprintf("mail %q to %s", m.Template, m.To))
}

// findTemplate fails for good while the template is not deployed. A retry would
// not help: whoever deploys it redrives.
func (c *company) findTemplate(ctx context.Context, name string) error {
	var wait float64
	err := c.q.Pool().QueryRow(ctx, c.q.Schema().Query("demo_template"), name, deployAfter.Seconds()).Scan(&wait)
	if err != nil {
		return fmt.Errorf("look for template %q: %w", name, err)
	}
	if wait > 0 {
		return queue.Permanent(fmt.Errorf("no template %q yet: it is deployed in %.0f s, redrive then", name, wait))
	}
	return nil
}

func (c *company) drawImage(ctx context.Context, job *queue.Job) error {
	var p picture
	if err := read(job, &p); err != nil {
		return err
	}
	if strings.HasSuffix(p.Source, corruptFile) {
		if err := c.take(ctx, 400*time.Millisecond, time.Second); err != nil {
			return err
		}
		return queue.Permanent(fmt.Errorf("decode %s: unexpected end of JPEG data after %d bytes", p.Source, 20_000+rand.IntN(40_000)))
	}
	if err := c.take(ctx, time.Second, 4*time.Second); err != nil {
		return err
	}
	if strings.Contains(p.Source, slowHost) && job.Attempts == 1 {
		return fmt.Errorf("fetch %s: timeout after 10s", p.Source)
	}
	if err := c.outside.Call(ctx); err != nil {
		return fmt.Errorf("fetch the image: %w", err)
	}
	return c.did(ctx, job, fmt.Sprintf("%s of %s, %d×%d", job.Kind, p.Source, p.Width, p.Height))
}

func (c *company) writeReport(ctx context.Context, job *queue.Job) error {
	var r report
	if err := read(job, &r); err != nil {
		return err
	}
	if err := c.take(ctx, 4*time.Second, 8*time.Second); err != nil {
		return err
	}
	if r.Month == lockedMonth && job.Attempts == 1 {
		return fmt.Errorf("read the books of %s for %s: canceling statement due to lock timeout", r.Account, r.Month)
	}
	return c.did(ctx, job, fmt.Sprintf("%s for %s, %s, %d rows", job.Kind, r.Account, r.Month, r.Rows))
}

// doAnything does the jobs that somebody else put into the demonstration's queues.
func (c *company) doAnything(ctx context.Context, job *queue.Job) error {
	if err := c.take(ctx, 300*time.Millisecond, 1500*time.Millisecond); err != nil {
		return err
	}
	return c.did(ctx, job, "a job of the queue "+job.Queue)
}

// read reads a payload. One that is not what it should be never will be.
func read(job *queue.Job, into any) error {
	if err := json.Unmarshal(job.Payload, into); err != nil {
		return queue.Permanent(fmt.Errorf("payload of a %s: %w", job.Kind, err))
	}
	return nil
}

// take is the time that work takes.
func (c *company) take(ctx context.Context, least, most time.Duration) error {
	timer := time.NewTimer(time.Duration(c.pace * float64(least+rand.N(most-least))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
