package watch

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/leasetop/leasetop/queue"
)

var published = strings.Fields("id queue kind status attempts max_attempts run_at locked_at locked_by lease_expires_at created_at updated_at")

func relationMessage(schema, table string, columns ...string) *pglogrepl.RelationMessage {
	m := &pglogrepl.RelationMessage{RelationID: 7, Namespace: schema, RelationName: table}
	for _, name := range columns {
		m.Columns = append(m.Columns, &pglogrepl.RelationMessageColumn{Name: name})
	}
	return m
}

// tuple makes a tuple of binary values: int32, int64, string, nil for NULL, toast.
func tuple(values ...any) *pglogrepl.TupleData {
	t := &pglogrepl.TupleData{}
	for _, v := range values {
		c := &pglogrepl.TupleDataColumn{DataType: pglogrepl.TupleDataTypeBinary}
		switch v := v.(type) {
		case int32:
			c.Data = binary.BigEndian.AppendUint32(nil, uint32(v))
		case int64:
			c.Data = binary.BigEndian.AppendUint64(nil, uint64(v))
		case string:
			c.Data = []byte(v)
		case nil:
			c.DataType = pglogrepl.TupleDataTypeNull
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

func toastAt(t *pglogrepl.TupleData, at int) *pglogrepl.TupleData {
	t.Columns[at] = &pglogrepl.TupleDataColumn{DataType: pglogrepl.TupleDataTypeToast}
	return t
}

func insert(t *pglogrepl.TupleData) *pglogrepl.InsertMessage {
	m := &pglogrepl.InsertMessage{RelationID: 7, Tuple: t}
	m.SetType(pglogrepl.MessageTypeInsert)
	return m
}

func update(old, now *pglogrepl.TupleData) *pglogrepl.UpdateMessage {
	m := &pglogrepl.UpdateMessage{RelationID: 7, OldTuple: old, NewTuple: now}
	m.SetType(pglogrepl.MessageTypeUpdate)
	return m
}

func knows(t *testing.T) *decoder {
	t.Helper()
	d := newDecoder("leasetop")
	if _, ok, err := d.decode(relationMessage("leasetop", "jobs", published...), nil); ok || err != nil {
		t.Fatal(ok, err)
	}
	return d
}

func nobody(int64) *row { return nil }

const micro2001 = int64(366 * 24 * 3600 * 1e6) // 2001-01-01 in PostgreSQL's microseconds

func TestDecodeReadsARow(t *testing.T) {
	t.Parallel()
	c, ok, err := knows(t).decode(insert(tuple(int64(42), "emails", "send", "processing", int32(2), int32(5),
		micro2001, micro2001+1, "host:1:b/w1#7", micro2001+30_000_000, micro2001, micro2001+1)), nobody)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	base := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	want := row{
		id: 42, queue: "emails", kind: "send", status: queue.Processing, attempts: 2, maxAttempts: 5,
		runAt: queue.At(base), lockedAt: base.Add(time.Microsecond), owner: "host:1:b/w1#7",
		expiresAt: base.Add(30 * time.Second), updatedAt: base.Add(time.Microsecond),
	}
	if c.kind != pglogrepl.MessageTypeInsert || c.id != 42 || *c.after != want {
		t.Errorf("got %+v\nwant %+v", *c.after, want)
	}
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
		c, _, err := knows(t).decode(insert(tuple(int64(1), "q", "", "pending", int32(0), int32(5), micros, nil, nil, nil, int64(0), int64(0))), nobody)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.after.runAt.String(); got != want {
			t.Errorf("%d microseconds: got %s, want %s", micros, got, want)
		}
		if !c.after.lockedAt.IsZero() || c.after.owner != "" {
			t.Errorf("NULL became %v and %q", c.after.lockedAt, c.after.owner)
		}
	}
}

func TestDecodeTakesUnchangedValuesFromTheRowBefore(t *testing.T) {
	t.Parallel()
	now := toastAt(tuple(int64(1), "q", "", "processing", int32(1), int32(5), int64(0), int64(0), "", int64(9), int64(0), int64(3)), 8)
	before := func(id int64) *row { return &row{id: id, owner: strings.Repeat("long", 1000)} }
	c, _, err := knows(t).decode(update(nil, now), before)
	if err != nil || len(c.after.owner) != 4000 {
		t.Errorf("owner of %d bytes, error %v", len(c.after.owner), err)
	}
}

func TestDecodeNamesTheRowBeforeAnIDChange(t *testing.T) {
	t.Parallel()
	now := tuple(int64(2), "q", "", "pending", int32(0), int32(5), int64(0), nil, nil, nil, int64(0), int64(0))
	c, _, err := knows(t).decode(update(tuple(int64(1)), now), nobody)
	if err != nil || c.id != 1 || c.after.id != 2 {
		t.Errorf("id %d became %+v, error %v", c.id, c.after, err)
	}
}

func TestDecodeIgnoresOtherTables(t *testing.T) {
	t.Parallel()
	d := newDecoder("leasetop")
	for _, m := range []pglogrepl.Message{
		relationMessage("public", "jobs", "id"), relationMessage("leasetop", "once", "id"), insert(tuple(int64(1))),
	} {
		if _, ok, err := d.decode(m, nobody); ok || err != nil {
			t.Errorf("%T: %v %v", m, ok, err)
		}
	}
}

func TestDecodeRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	_, _, err := newDecoder("leasetop").decode(relationMessage("leasetop", "jobs", "id", "queue"), nobody)
	if err == nil || !strings.Contains(err.Error(), "status") {
		t.Errorf("a publication without status: %v", err)
	}
	for name, row := range map[string]*pglogrepl.TupleData{
		"few columns": tuple(int64(1), "q"),
		"text number": tuple("1", "q", "", "pending", int32(0), int32(5), int64(0), nil, nil, nil, int64(0), int64(0)),
		"short time":  tuple(int64(1), "q", "", "pending", int32(0), int32(5), int32(0), nil, nil, nil, int64(0), int64(0)),
		"no tuple":    nil,
	} {
		if _, ok, err := knows(t).decode(insert(row), nobody); ok || err == nil {
			t.Errorf("%s: taken for a row", name)
		}
	}
}
