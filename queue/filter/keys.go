package filter

import "slices"

// Key is something that a word of a filter can be about.
type Key struct {
	Name    string // as it is typed
	Takes   string // what stands behind it, in a word or two
	Help    string // what it is about, in a sentence
	Example string // a word with it
}

// key is a Key with how a value of it is read.
type key struct {
	Key
	read func(t *term, path []Value, v Value) *Mistake
}

// keys are all there are, in the order in which they are told about.
var keys = []key{
	{Key{"queue", "a name", "The queue, by its whole name.", "queue:emails,images*"}, readQueue},
	{Key{"kind", "a name", "The kind, by its whole name.", "kind:send"}, nameOf(factKind)},
	{Key{"status", "a status", "Where the job stands: pending, processing, completed, failed or dead; or ready and scheduled, which are pending.", "status:failed,dead"}, readStatus},
	{Key{"error", "text", "Text in the last error, ignoring case.", `error:"rate limited"`}, readError},
	{Key{"attempts", "a number", "How often it was attempted.", "attempts:>3"}, numberOf(factAttempts, "attempts")},
	{Key{"age", "a time", "How long ago it was created.", "age:>1h"}, timeOf(factAge)},
	{Key{"died", "a time", "How long ago it died, for a dead letter.", "died:<90s"}, readDied},
	{Key{"worker", "a name", "Who has it, or had it last: the worker's name, its name and host (w3@shop1), its host, or the lease's owner as it is stored.", "worker:w3"}, readWorker},
	{Key{"id", "a number", "The job's id.", "id:10..20"}, numberOf(factID, "ids")},
	{Key{"key", "a name", "The idempotency key, whole.", "key:order-42*"}, nameOf(factKey)},
	{Key{"payload", "a value", "A value at a path in the payload, or without a path text in any value of it.", "payload.to:ann@example.com"}, readPayload},
	{Key{"fingerprint", "a text", "The error's fingerprint, whole: which problem it is.", `fingerprint:"SMTP ‹n› rate limited"`}, nameOf(factFingerprint)},
}

// Keys are all keys there are, in the order in which to tell about them.
func Keys() []Key {
	all := make([]Key, len(keys))
	for i, k := range keys {
		all[i] = k.Key
	}
	return all
}

func keyNames() []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

func keyOf(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.Name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}
