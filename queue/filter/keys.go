package filter

import "slices"

// Key is something that a word of a filter can be about.
type Key struct {
	Name    string // as it is typed
	Takes   string // what stands behind it, in a word or two
	Help    string // what it is about, in a sentence
	Example string // a word with it
}

// key is a Key with how a value of it is read, and what it may be.
type key struct {
	Key
	read  func(t *term, path []Value, v Value) *Mistake
	names offers // nil when nobody can know
}

// keys are all there are, in the order in which they are told about. This is the one
// place that names them.
var keys = []key{
	{Key{
		"queue", "a name", "The queue.", "queue:emails,images*",
	}, readQueue, queueNames},
	{Key{
		"kind", "a name", "The kind, which says what handler a job is for.", "kind:send",
	}, nameOf(factKind), kindNames},
	{Key{
		"status", "a status", "Where a job stands; ready and scheduled are pending.", "status:failed,dead",
	}, readStatus, statusNames},
	{Key{
		"error", "text", "Text in the last error, ignoring case.", `error:"rate limited"`,
	}, readError, nil},
	{Key{
		"attempts", "a number", "How many attempts a job has had.", "attempts:>3",
	}, numberOf(factAttempts, "attempts"), signs},
	{Key{
		"age", "a time", "How long ago a job was created.", "age:>1h",
	}, timeOf(factAge), spans},
	{Key{
		"died", "a time", "How long ago a dead letter died.", "died:<90s",
	}, readDied, spans},
	{Key{
		"worker", "a name", "Who has a job or had it last: w3, w3@shop1, shop1, or a lease's owner in full.", "worker:w3",
	}, readWorker, workerNames},
	{Key{
		"id", "a number", "The job's id.", "id:10..20",
	}, numberOf(factID, "ids"), signs},
	{Key{
		"key", "a name", "The idempotency key.", "key:order-42*",
	}, nameOf(factKey), nil},
	{Key{
		"payload", "a value", "What stands at a path in the payload; without a path, text in any of its values.", "payload.to:ann@example.com",
	}, readPayload, nil},
	{Key{
		"fingerprint", "text", "What problem the last error is: its first line without names and numbers.", `fingerprint:"timeout after ‹n› ms"`,
	}, nameOf(factFingerprint), nil},
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
