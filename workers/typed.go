package workers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/leasetop/leasetop/queue"
)

// Typed makes a handler of a function that takes the payload decoded. A payload
// that does not fit T is a permanent error which names the field at fault: no
// retry can cure it. As encoding/json does, fields that T lacks are passed over
// and those the payload lacks keep their zero values. Numbers that land in an
// any are a [json.Number], with all their digits. A nil fn is refused by [New].
func Typed[T any](fn func(ctx context.Context, job *queue.Job, payload T) error) Handler {
	if fn == nil {
		return nil // which New refuses
	}
	return func(ctx context.Context, job *queue.Job) error {
		var payload T
		if err := decode(job.Payload, &payload); err != nil {
			return queue.Permanent(misfit[T](job.Payload, err))
		}
		return fn(ctx, job, payload)
	}
}

func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// misfit says which part of a payload does not fit T.
func misfit[T any](text []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		if field := culprit[T](text); field != "" {
			return fmt.Errorf("payload: field %q: %w", field, err)
		}
		return fmt.Errorf("payload: %w", err)
	case wrong.Field == "":
		return fmt.Errorf("payload: it is of type %s, want %s", wrong.Value, wrong.Type)
	}
	return fmt.Errorf("payload: field %q is of type %s, want %s", wrong.Field, wrong.Value, wrong.Type)
}

// culprit finds the field whose own decoder refused it, which says what is wrong
// but not where: the first that fails alone.
func culprit[T any](text []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		alone, err := json.Marshal(map[string]json.RawMessage{name: fields[name]})
		if err == nil && decode(alone, new(T)) != nil {
			return name
		}
	}
	return ""
}
