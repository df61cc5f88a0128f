package watch

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/leasetop/leasetop/queue"
)

// change is one row of the jobs table inserted, updated or deleted, or all of them; or a
// row of the archive inserted or deleted.
type change struct {
	kind    pglogrepl.MessageType // Insert, Update, Delete or Truncate
	id      int64                 // of the row before the change
	after   *row                  // nil for Delete and Truncate, and for the archive
	archive bool                  // it is the archive's row
	by      string                // who archived it
}

// decoder turns pgoutput's messages into changes of one table. Values come in
// PostgreSQL's binary format, which no role's DateStyle or TimeZone can change.
type decoder struct {
	schema    string
	relations map[uint32]relation
	archives  map[uint32]archived
	names     map[string]string // queues, kinds and statuses, so that each is stored once
}

// relation says where the columns of the jobs table stand in its tuples: -1 for one
// that is not published.
type relation struct {
	id, queue, kind, status, attempts, maxAttempts int
	runAt, lockedAt, lockedBy, expiresAt, updated  int
	cancelledBy                                    int // -1: the publication is older than the column
}

// archived says where the columns of the archive stand in its tuples.
type archived struct{ id, by int }

func newDecoder(schema string) *decoder {
	return &decoder{schema: schema, relations: map[uint32]relation{}, archives: map[uint32]archived{}, names: map[string]string{}}
}

// decode returns the change in a message; ok is false for messages which hold none of
// the jobs table. before gives the last known state of a row, for values that
// PostgreSQL does not repeat because they are stored out of line and did not change.
func (d *decoder) decode(m pglogrepl.Message, before func(int64) *row) (c change, ok bool, err error) {
	switch m := m.(type) {
	case *pglogrepl.RelationMessage:
		delete(d.relations, m.RelationID)
		delete(d.archives, m.RelationID)
		switch {
		case m.Namespace == d.schema && m.RelationName == "jobs":
			d.relations[m.RelationID], err = newRelation(m)
		case m.Namespace == d.schema && m.RelationName == "jobs_archive":
			d.archives[m.RelationID] = newArchived(m)
		}
	case *pglogrepl.InsertMessage:
		if r, archive := d.archives[m.RelationID]; archive && len(m.Tuple.Columns) > max(r.id, r.by) {
			c.kind, c.archive, ok = m.Type(), true, true
			c.by = string(m.Tuple.Columns[r.by].Data)
			c.id, err = integer(m.Tuple.Columns[r.id])
		}
		if r, known := d.relations[m.RelationID]; known {
			c.kind, ok = m.Type(), true
			c.after, err = d.row(r, m.Tuple, before)
			if err == nil {
				c.id = c.after.id
			}
		}
	case *pglogrepl.UpdateMessage:
		if r, known := d.relations[m.RelationID]; known {
			c.kind, ok = m.Type(), true
			if c.id, err = r.key(m.OldTuple, m.NewTuple); err == nil {
				c.after, err = d.row(r, m.NewTuple, func(int64) *row { return before(c.id) })
			}
		}
	case *pglogrepl.DeleteMessage:
		if r, archive := d.archives[m.RelationID]; archive && m.OldTuple != nil && len(m.OldTuple.Columns) > r.id {
			c.kind, c.archive, ok = m.Type(), true, true
			c.id, err = integer(m.OldTuple.Columns[r.id])
		}
		if r, known := d.relations[m.RelationID]; known {
			c.kind, ok = m.Type(), true
			c.id, err = r.key(m.OldTuple)
		}
	case *pglogrepl.TruncateMessage:
		for _, id := range m.RelationIDs {
			if _, known := d.relations[id]; known {
				c.kind, ok = m.Type(), true
			}
		}
	}
	return c, ok && err == nil, err
}

func newRelation(m *pglogrepl.RelationMessage) (relation, error) {
	at := map[string]int{}
	for i, column := range m.Columns {
		at[column.Name] = i
	}
	var missing []string
	find := func(name string) int {
		i, ok := at[name]
		if !ok {
			missing = append(missing, name)
			return -1
		}
		return i
	}
	r := relation{
		id: find("id"), queue: find("queue"), status: find("status"), attempts: find("attempts"),
		maxAttempts: find("max_attempts"), runAt: find("run_at"), lockedAt: find("locked_at"),
		lockedBy: find("locked_by"), expiresAt: find("lease_expires_at"), updated: find("updated_at"),
		kind: find("kind"), cancelledBy: -1,
	}
	if i, ok := at["cancelled_by"]; ok {
		r.cancelledBy = i
	}
	if len(missing) > 0 {
		return r, fmt.Errorf("the publication leaves out %v of the jobs table: add them to its column list", missing)
	}
	return r, nil
}

func newArchived(m *pglogrepl.RelationMessage) (r archived) {
	for i, column := range m.Columns {
		switch column.Name {
		case "id":
			r.id = i
		case "archived_by":
			r.by = i
		}
	}
	return r
}

// key is the id in the first tuple that is there.
func (r relation) key(tuples ...*pglogrepl.TupleData) (int64, error) {
	for _, tuple := range tuples {
		if tuple != nil && r.id < len(tuple.Columns) {
			return integer(tuple.Columns[r.id])
		}
	}
	return 0, fmt.Errorf("a change of the jobs table names no row")
}

func (d *decoder) row(r relation, tuple *pglogrepl.TupleData, before func(int64) *row) (*row, error) {
	if tuple == nil || len(tuple.Columns) <= max(r.id, r.queue, r.kind, r.status, r.attempts, r.maxAttempts,
		r.runAt, r.lockedAt, r.lockedBy, r.expiresAt, r.updated, r.cancelledBy) {
		return nil, fmt.Errorf("a row of the jobs table came with too few columns")
	}
	var err error
	check := func(e error) {
		if err == nil {
			err = e
		}
	}
	number := func(at int) int64 {
		n, e := integer(tuple.Columns[at])
		check(e)
		return n
	}
	moment := func(at int) queue.Time {
		t, e := timestamp(tuple.Columns[at])
		check(e)
		return t
	}
	now := &row{
		id: number(r.id), attempts: int(number(r.attempts)), maxAttempts: int(number(r.maxAttempts)),
		runAt: moment(r.runAt), lockedAt: moment(r.lockedAt).Time, expiresAt: moment(r.expiresAt).Time,
		updatedAt: moment(r.updated).Time,
		status:    queue.Status(d.name(tuple.Columns[r.status])),
	}
	if err != nil {
		return nil, err
	}
	old := before(now.id)
	if old == nil {
		old = &row{}
	}
	now.queue, now.kind, now.owner, now.cancelledBy = old.queue, old.kind, old.owner, old.cancelledBy
	if c := tuple.Columns[r.queue]; c.DataType != pglogrepl.TupleDataTypeToast {
		now.queue = d.name(c)
	}
	if c := tuple.Columns[r.kind]; c.DataType != pglogrepl.TupleDataTypeToast {
		now.kind = d.name(c)
	}
	if c := tuple.Columns[r.lockedBy]; c.DataType != pglogrepl.TupleDataTypeToast {
		now.owner = string(c.Data)
	}
	if r.cancelledBy >= 0 {
		if c := tuple.Columns[r.cancelledBy]; c.DataType != pglogrepl.TupleDataTypeToast {
			now.cancelledBy = string(c.Data)
		}
	}
	return now, nil
}

// name is a text of which there are few different ones.
func (d *decoder) name(c *pglogrepl.TupleDataColumn) string {
	if known, ok := d.names[string(c.Data)]; ok {
		return known
	}
	if len(d.names) >= 50_000 {
		clear(d.names)
	}
	text := string(c.Data)
	d.names[text] = text
	return text
}

// integer reads an int4 or int8; NULL is 0.
func integer(c *pglogrepl.TupleDataColumn) (int64, error) {
	switch {
	case c.DataType == pglogrepl.TupleDataTypeNull:
		return 0, nil
	case c.DataType == pglogrepl.TupleDataTypeBinary && len(c.Data) == 4:
		return int64(int32(binary.BigEndian.Uint32(c.Data))), nil
	case c.DataType == pglogrepl.TupleDataTypeBinary && len(c.Data) == 8:
		return int64(binary.BigEndian.Uint64(c.Data)), nil
	}
	return 0, fmt.Errorf("a number of the jobs table came as %q with %d bytes", c.DataType, len(c.Data))
}

// epoch2000 is PostgreSQL's epoch, 2000-01-01 UTC, in Unix seconds.
const epoch2000 = 946_684_800

// timestamp reads a timestamptz: microseconds since 2000, the extremes being the
// infinities; NULL is the zero Time.
func timestamp(c *pglogrepl.TupleDataColumn) (t queue.Time, err error) {
	if c.DataType == pglogrepl.TupleDataTypeNull {
		return t, nil
	}
	if c.DataType != pglogrepl.TupleDataTypeBinary || len(c.Data) != 8 {
		return t, fmt.Errorf("a time of the jobs table came as %q with %d bytes", c.DataType, len(c.Data))
	}
	switch micros := int64(binary.BigEndian.Uint64(c.Data)); micros {
	case math.MaxInt64:
		t.Infinity = 1
	case math.MinInt64:
		t.Infinity = -1
	default:
		t.Time = time.Unix(epoch2000+micros/1e6, micros%1e6*1000).UTC()
	}
	return t, nil
}
