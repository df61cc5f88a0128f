package watch

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"pgregory.net/rapid"

	"github.com/leasetop/leasetop/queue"
)

// published are the columns that the publication had before cancels, and whole those of now.
var (
	published = strings.Fields("id queue kind status attempts max_attempts run_at locked_at locked_by lease_expires_at created_at updated_at")
	whole     = append(slices.Clip(published), "cancelled_by")
)

const (
	jobsOID    = int32(7)
	archiveOID = int32(8)
)

func describes(oid int32, schema, table string, columns ...string) []byte {
	m := written(byte('R'), oid, schema, table, byte('d'), int16(len(columns)))
	for _, name := range columns {
		m = written(m, byte(0), name, int32(20), int32(-1))
	}
	return m
}

func inserts(oid int32, row []byte) []byte { return written(byte('I'), oid, byte('N'), row) }

func updates(oid int32, row []byte) []byte { return written(byte('U'), oid, byte('N'), row) }

func knows(t rapid.TB) *decoder {
	d := newDecoder("leasetop")
	d.table = uint32(jobsOID)
	for _, m := range [][]byte{
		describes(jobsOID, "leasetop", "jobs", whole...),
		describes(archiveOID, "leasetop", "jobs_archive", "id", "archived_at", "archived_by"),
	} {
		if _, ok, err := d.decode(m, nobody); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	return d
}

func nobody(int64) *row { return nil }

const micro2001 = int64(366 * 24 * 3600 * 1e6) // 2001-01-01 in PostgreSQL's microseconds

func TestDecodeReadsARow(t *testing.T) {
	t.Parallel()
	c, ok, err := knows(t).decode(inserts(jobsOID, tuple(int64(42), "emails", "send", "processing", int32(2), int32(5),
		micro2001, micro2001+1, "host:1:b/w1#7", micro2001+30_000_000, micro2001, micro2001+1, "ann")), nobody)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	base := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	want := row{
		id: 42, queue: "emails", kind: "send", status: queue.Processing, attempts: 2, maxAttempts: 5,
		runAt: queue.At(base), lockedAt: base.Add(time.Microsecond), owner: "host:1:b/w1#7",
		expiresAt: base.Add(30 * time.Second), updatedAt: base.Add(time.Microsecond), cancelledBy: "ann",
	}
	if c.kind != pglogrepl.MessageTypeInsert || c.id != 42 || *c.after != want {
		t.Errorf("got %+v\nwant %+v", *c.after, want)
	}
}

func TestDecodeReadsWhateverARowHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(-200_000_000_000_000_000, 9_000_000_000_000_000_000)
		text := rapid.String()
		want := row{
			id: rapid.Int64().Draw(t, "id"), queue: text.Draw(t, "queue"), kind: text.Draw(t, "kind"),
			status:   rapid.SampledFrom(queue.Statuses).Draw(t, "status"),
			attempts: int(rapid.Int32().Draw(t, "attempts")), maxAttempts: int(rapid.Int32().Draw(t, "max attempts")),
			runAt: timeOf(rapid.Int64().Draw(t, "run at")), owner: text.Draw(t, "owner"), cancelledBy: text.Draw(t, "cancelled by"),
			lockedAt:  timeOf(micros.Draw(t, "locked at")).Time,
			expiresAt: timeOf(micros.Draw(t, "expires at")).Time,
			updatedAt: timeOf(micros.Draw(t, "updated at")).Time,
		}
		values := map[string]any{
			"id": want.id, "queue": want.queue, "kind": want.kind, "status": string(want.status),
			"attempts": int32(want.attempts), "max_attempts": int32(want.maxAttempts), "run_at": dueOf(want.runAt),
			"locked_at": microsOf(want.lockedAt), "locked_by": want.owner, "lease_expires_at": microsOf(want.expiresAt),
			"updated_at": microsOf(want.updatedAt), "cancelled_by": want.cancelledBy,
			"created_at": int64(0), "payload": as{asText, "{}"}, "fingerprint": as{how: asUnchanged}, "died_at": nil,
		}
		// Whatever else is published, and in whatever order.
		var names []string
		for name := range values {
			names = append(names, name)
		}
		names = rapid.Permutation(names).Draw(t, "columns")
		var columns []any
		for _, name := range names {
			columns = append(columns, values[name])
		}
		d := knows(t)
		if _, ok, err := d.decode(describes(jobsOID, "leasetop", "jobs", names...), nobody); ok || err != nil {
			t.Fatal(ok, err)
		}
		moved := rapid.Int64().Draw(t, "id before")
		for _, m := range []struct {
			message []byte
			id      int64
		}{
			{inserts(jobsOID, tuple(columns...)), want.id},
			{updates(jobsOID, tuple(columns...)), want.id},
			{written(byte('U'), jobsOID, byte('K'), tuple(only(names, "id", moved)...), byte('N'), tuple(columns...)), moved},
		} {
			c, ok, err := d.decode(m.message, nobody)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			if c.id != m.id || c.archive || *c.after != want {
				t.Fatalf("%c of %d: got %+v\nwant %+v", m.message[0], c.id, *c.after, want)
			}
		}
		c, ok, err := d.decode(written(byte('D'), jobsOID, byte('K'), tuple(only(names, "id", want.id)...)), nobody)
		if !ok || err != nil || c.kind != pglogrepl.MessageTypeDelete || c.id != want.id || c.after != nil {
			t.Fatalf("deleted %+v, %v %v", c, ok, err)
		}
	})
}

// only is a row of which one column is there, like a key.
func only(names []string, name string, value any) []any {
	values := make([]any, len(names))
	for i := range names {
		if names[i] == name {
			values[i] = value
		}
	}
	return values
}

func TestDecodeReadsExtremeTimesAndNull(t *testing.T) {
	t.Parallel()
	for micros, want := range map[int64]string{
		math.MaxInt64: "infinity", math.MinInt64: "-infinity",
		9223371331199999999:      "294276-12-31T23:59:59.999999Z",
		-63113904000000000:       "0000-01-01T00:00:00Z", // 1 BC
		micro2001 - 1:            "2000-12-31T23:59:59.999999Z",
		-1:                       "1999-12-31T23:59:59.999999Z",
		-1_000_001:               "1999-12-31T23:59:58.999999Z",
		-211_813_488_000_000_000: "-4713-11-24T00:00:00Z",
	} {
		c, _, err := knows(t).decode(inserts(jobsOID, tuple(int64(1), "q", "", "pending", int32(0), int32(5), micros, nil, nil, nil, int64(0), int64(0), nil)), nobody)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.after.runAt.String(); got != want {
			t.Errorf("%d microseconds: got %s, want %s", micros, got, want)
		}
		if !c.after.lockedAt.IsZero() || c.after.owner != "" || c.after.cancelledBy != "" {
			t.Errorf("NULL became %v, %q and %q", c.after.lockedAt, c.after.owner, c.after.cancelledBy)
		}
	}
}

func TestDecodeTakesUnchangedValuesFromTheRowBefore(t *testing.T) {
	t.Parallel()
	same := as{how: asUnchanged}
	now := tuple(int64(1), same, same, "processing", int32(1), int32(5), int64(0), int64(0), same, int64(9), int64(0), int64(3), same)
	long := strings.Repeat("long", 1000)
	old := row{id: 1, queue: "q" + long, kind: "k" + long, owner: "o" + long, cancelledBy: "c" + long, attempts: 7}
	for name, message := range map[string][]byte{
		"same id":  updates(jobsOID, now),
		"other id": written(byte('U'), jobsOID, byte('K'), tuple(only(whole, "id", int64(1))...), byte('N'), tuple(int64(2), same, same, "processing", int32(1), int32(5), int64(0), int64(0), same, int64(9), int64(0), int64(3), same)),
	} {
		c, _, err := knows(t).decode(message, func(id int64) *row {
			if id != 1 {
				t.Errorf("%s: job %d was asked for", name, id)
			}
			return &old
		})
		if err != nil {
			t.Fatal(name, err)
		}
		if r := c.after; r.queue != old.queue || r.kind != old.kind || r.owner != old.owner || r.cancelledBy != old.cancelledBy || r.attempts != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if c, ok, err := knows(t).decode(updates(jobsOID, now), nobody); !ok || err != nil || c.after.owner != "" {
		t.Errorf("of an unknown row: %+v, %v %v", c.after, ok, err)
	}
}

func TestDecodeNamesTheRowBeforeAnIDChange(t *testing.T) {
	t.Parallel()
	now := tuple(int64(2), "q", "", "pending", int32(0), int32(5), int64(0), nil, nil, nil, int64(0), int64(0), nil)
	for _, how := range "KO" { // the key of the old row, or all of it
		c, ok, err := knows(t).decode(written(byte('U'), jobsOID, byte(how), tuple(only(whole, "id", int64(1))...), byte('N'), now), nobody)
		if !ok || err != nil || c.id != 1 || c.after.id != 2 {
			t.Errorf("id %d became %+v, error %v", c.id, c.after, err)
		}
	}
}

func TestDecodeReadsTheArchive(t *testing.T) {
	t.Parallel()
	d := knows(t)
	c, ok, err := d.decode(inserts(archiveOID, tuple(int64(3), int64(0), "ann")), nobody)
	if !ok || err != nil || !c.archive || c.kind != pglogrepl.MessageTypeInsert || c.id != 3 || c.by != "ann" || c.after != nil {
		t.Errorf("archived: %+v, %v %v", c, ok, err)
	}
	c, ok, err = d.decode(written(byte('D'), archiveOID, byte('K'), tuple(int64(3), nil, nil)), nobody)
	if !ok || err != nil || !c.archive || c.kind != pglogrepl.MessageTypeDelete || c.id != 3 {
		t.Errorf("restored: %+v, %v %v", c, ok, err)
	}
	if _, ok, err := d.decode(updates(archiveOID, tuple(int64(3), int64(0), "bob")), nobody); ok || err != nil {
		t.Errorf("an update of the archive: %v %v", ok, err)
	}
	// A publication of somebody else's that holds too little of it.
	if _, ok, err := d.decode(describes(archiveOID, "leasetop", "jobs_archive", "queue"), nobody); ok || err != nil {
		t.Errorf("archive without ids: %v %v", ok, err)
	}
	if _, ok, err := d.decode(inserts(archiveOID, tuple("q")), nobody); ok || err != nil {
		t.Errorf("archived without an id: %v %v", ok, err)
	}
}

func TestDecodeReadsATruncateOfSeveralTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tables []int32
		ours   bool
	}{
		{[]int32{jobsOID}, true},
		{[]int32{99, archiveOID, jobsOID}, true},
		{[]int32{99, archiveOID}, false},
	} {
		m := written(byte('T'), int32(len(c.tables)), byte(1))
		for _, oid := range c.tables {
			m = written(m, oid)
		}
		got, ok, err := knows(t).decode(m, nobody)
		if ok != c.ours || err != nil || ok && got.kind != pglogrepl.MessageTypeTruncate {
			t.Errorf("%v: %+v, %v %v", c.tables, got, ok, err)
		}
	}
}

func TestDecodeIgnoresWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	d := knows(t)
	for name, m := range map[string][]byte{
		"another schema":  describes(9, "public", "jobs", "id"),
		"another table":   describes(10, "leasetop", "once", "id"),
		"its row":         inserts(10, tuple(int64(1))),
		"an origin":       written(byte('O'), int64(1), "somewhere"),
		"a type":          written(byte('Y'), int32(1), "public", "mood"),
		"anybody's words": written(byte('M'), byte(0), int64(1), "prefix", int32(0)),
	} {
		if _, ok, err := d.decode(m, nobody); ok || err != nil {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
}

func TestDecodeReadsThePublicationBeforeCancels(t *testing.T) {
	t.Parallel()
	d := knows(t)
	if _, ok, err := d.decode(describes(jobsOID, "leasetop", "jobs", published...), nobody); ok || err != nil {
		t.Fatal(ok, err)
	}
	c, ok, err := d.decode(inserts(jobsOID, tuple(int64(42), "q", "", "pending", int32(0), int32(5), int64(0), nil, nil, nil, int64(0), int64(0))), nobody)
	if !ok || err != nil || c.id != 42 || c.after.cancelledBy != "" {
		t.Errorf("%+v, %v %v", c.after, ok, err)
	}
}

func TestDecodeFollowsAnAlteredTable(t *testing.T) {
	t.Parallel()
	d := knows(t)
	if _, ok, err := d.decode(describes(jobsOID, "leasetop", "jobs", append([]string{"priority"}, whole...)...), nobody); ok || err != nil {
		t.Fatal(ok, err)
	}
	c, ok, err := d.decode(inserts(jobsOID, tuple(int32(1), int64(42), "q", "", "pending", int32(0), int32(5), int64(0), nil, nil, nil, int64(0), int64(0), nil)), nobody)
	if !ok || err != nil || c.id != 42 || c.after.queue != "q" {
		t.Errorf("%+v, %v %v", c.after, ok, err)
	}
	// Renamed away: its rows are nobody's then.
	if _, ok, err := d.decode(describes(jobsOID, "leasetop", "old_jobs", whole...), nobody); ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := d.decode(inserts(jobsOID, tuple(int64(1))), nobody); ok || err != nil {
		t.Errorf("of another table: %v %v", ok, err)
	}
}

func TestDecodeRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	_, _, err := knows(t).decode(describes(jobsOID, "leasetop", "jobs", "id", "queue"), nobody)
	if err == nil || !strings.Contains(err.Error(), "[kind status attempts max_attempts run_at locked_at locked_by lease_expires_at updated_at]") {
		t.Errorf("a publication without status: %v", err)
	}
	if _, _, err := knows(t).decode(describes(99, "leasetop", "jobs", whole...), nobody); err != errReplaced {
		t.Errorf("another jobs table: %v", err)
	}
	row := func(id, run any) []byte {
		return tuple(id, "q", "", "pending", int32(0), int32(5), run, nil, nil, nil, int64(0), int64(0), nil)
	}
	for name, m := range map[string][]byte{
		"few columns":    inserts(jobsOID, tuple(int64(1), "q")),
		"text number":    inserts(jobsOID, row(as{asText, "1"}, int64(0))),
		"no number":      inserts(jobsOID, row(as{how: asUnchanged}, int64(0))),
		"short time":     inserts(jobsOID, row(int64(1), int32(0))),
		"text time":      inserts(jobsOID, row(int64(1), as{asText, "now"})),
		"no tuple":       written(byte('I'), jobsOID, byte('N')),
		"nothing":        {},
		"unheard of":     written(byte('!'), jobsOID),
		"cut begin":      written(byte('B'), int64(1)),
		"cut truncate":   written(byte('T'), int32(1<<30), byte(0)),
		"cut relation":   describes(jobsOID, "leasetop", "jobs", whole...)[:100],
		"half an update": written(byte('U'), jobsOID, byte('K'), tuple(int64(1))),
	} {
		if _, ok, err := knows(t).decode(m, nobody); ok || err == nil {
			t.Errorf("%s: taken for a change", name)
		}
	}
}

func TestDecodeReadsTheEndsOfTransactions(t *testing.T) {
	t.Parallel()
	begin := written(byte('B'), int64(0x1_6b374d848), micro2001, int32(740))
	if at, commit, ok := readBegin(begin); !ok || commit != 0x1_6b374d848 || !at.Equal(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("begin: %v %v %v", at, commit, ok)
	}
	commit := written(byte('C'), byte(0), int64(1), int64(2), micro2001)
	if end, ok := readCommit(commit); !ok || end != 2 {
		t.Errorf("commit: %v %v", end, ok)
	}
	for _, m := range [][]byte{nil, begin[:10], commit, inserts(jobsOID, nil)} {
		if _, _, ok := readBegin(m); ok {
			t.Errorf("%q begins a transaction", m)
		}
	}
	for _, m := range [][]byte{nil, commit[:10], begin, inserts(jobsOID, nil)} {
		if _, ok := readCommit(m); ok {
			t.Errorf("%q ends a transaction", m)
		}
	}
}

// FuzzDecode: whatever comes is a change, or nothing, or an error.
func FuzzDecode(f *testing.F) {
	job := tuple(int64(1), "q", "k", "pending", int32(0), int32(5), int64(0), nil, as{how: asUnchanged}, nil, int64(0), int64(0), nil)
	for _, m := range [][]byte{
		inserts(jobsOID, job), updates(jobsOID, job), written(byte('U'), jobsOID, byte('K'), job, byte('N'), job), written(byte('D'), jobsOID, byte('O'), job),
		inserts(archiveOID, tuple(int64(1), int64(0), "ann")), written(byte('T'), int32(1), byte(0), jobsOID),
		describes(jobsOID, "leasetop", "jobs", whole...), written(byte('B'), int64(1), int64(2), int32(3)),
	} {
		f.Add(m)
		f.Add(m[:len(m)-1])
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		d := knows(t)
		readBegin(message)
		readCommit(message)
		c, ok, err := d.decode(message, func(id int64) *row { return &row{id: id} })
		if ok && (err != nil || !c.archive && c.after == nil && c.kind != pglogrepl.MessageTypeDelete && c.kind != pglogrepl.MessageTypeTruncate) {
			t.Errorf("%+v, error %v", c, err)
		}
	})
}
