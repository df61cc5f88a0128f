package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/leasetop/leasetop/queue"
)

// enqueueBatch is how many jobs go into one transaction, fewer when they are large.
const (
	enqueueBatch      = 500
	enqueueBatchBytes = 8 << 20
)

// Enqueue adds count copies of a job and prints one id a line. Large counts take
// several transactions; an error says how many jobs were added before it.
func Enqueue(ctx context.Context, p Printer, q *queue.Queue, job queue.NewJob, count int) error {
	if count > 1 && job.IdempotencyKey != "" {
		return Usage("--count with --idempotency-key: one key stands for one job, so leave one of them out")
	}
	out := bufio.NewWriter(p.Out)
	batch := max(1, min(enqueueBatch, enqueueBatchBytes/max(len(job.Payload), 1)))
	for done := 0; done < count; {
		jobs := make([]queue.NewJob, min(batch, count-done))
		for i := range jobs {
			jobs[i] = job
		}
		added, err := q.Enqueue(ctx, jobs...)
		if err != nil {
			if done > 0 {
				err = fmt.Errorf("%w (%d of %d jobs were added before)", err, done, count)
			}
			return errors.Join(err, out.Flush())
		}
		for _, a := range added {
			if a.Existing {
				fmt.Fprintf(p.Err, "leasetop: nothing was added: idempotency key %q of queue %q is in use by job %d\n", job.IdempotencyKey, job.Queue, a.ID)
			}
			// A reader that had enough, as head has, does not end the work; nor does a full
			// disk: those of them that were printed tell nothing about the others.
			_ = printEnqueued(out, p.Format, a)
		}
		done += len(jobs)
	}
	if err := out.Flush(); err != nil && !errors.Is(err, syscall.EPIPE) {
		in := fmt.Sprintf("all %d jobs are", count)
		if count == 1 {
			in = "the job is"
		}
		return fmt.Errorf("%s in queue %q, but not every id could be printed: %w", in, job.Queue, err)
	}
	return nil
}

func printEnqueued(w io.Writer, f Format, a queue.Enqueued) error {
	if f == JSON {
		return line(w, struct {
			ID       int64 `json:"id"`
			Existing bool  `json:"existing"`
		}{a.ID, a.Existing})
	}
	_, err := fmt.Fprintln(w, a.ID)
	return err
}

// payloadMost is how many bytes a payload may have. PostgreSQL's jsonb takes no string or
// array that is larger.
const payloadMost = 256 << 20

var errTooLong = errors.New("is longer than 256 MB, which no payload may be")

// readTo reads a payload, and no more of it than one byte beyond the most.
func readTo(from io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, errTooLong
	}
	return text, err
}

// Payload reads what --payload says: JSON itself, @file, or - for standard input. It waits
// for neither when ctx ends.
func Payload(ctx context.Context, said string, in io.Reader) (json.RawMessage, error) {
	text, from := []byte(said), "--payload"
	var err error
	switch file, isFile := strings.CutPrefix(said, "@"); {
	case said == "":
		return nil, nil
	case said == "-":
		from = "the payload on standard input"
		text, err = obeying(ctx, func() ([]byte, error) { return readTo(in, payloadMost) })
	case isFile:
		from = "the payload in " + file
		text, err = obeying(ctx, func() ([]byte, error) {
			f, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return readTo(f, payloadMost)
		})
	}
	if errors.Is(err, errTooLong) {
		return nil, Usage(from + " " + err.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return nil, Usage(fmt.Sprintf(`%s is not valid JSON: %v. Use JSON like '{"to":"ann@example.com"}', @file, or - for standard input`, from, err))
	}
	return any, nil
}
