package watch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
)

// change is one row of the jobs table inserted, updated or deleted, or all of them; or a
// row of the archive inserted or deleted.
type change struct {
	kind    pglogrepl.MessageType // Insert, Update, Delete or Truncate
	id      int64                 // of the row before the change
	after   *row                  // nil for Delete and Truncate, and for the archive; only good until the next message
	archive bool                  // it is the archive's row
	by      string                // who archived it
}

// decoder turns pgoutput's messages into changes of one table. Values come in
// PostgreSQL's binary format, which no role's DateStyle or TimeZone can change. It reads
// them where they lie: the stream has a message for every row of every transaction, and
// taking each apart into values of its own is most of what reading it costs.
type decoder struct {
	schema    string
	table     uint32               // the oid of the jobs table that was seeded from
	relations map[uint32]*relation // of our tables
	names     map[string]string    // queues and kinds, so that each is stored once
	row       row
}

// relation is one of our tables as the stream describes it.
type relation struct {
	archive bool
	columns []column // by their place in its tuples
}

// The columns that are read, by their names. A publication may be older than the last.
var (
	jobsColumns = []string{
		columnID: "id", columnQueue: "queue", columnKind: "kind", columnStatus: "status",
		columnAttempts: "attempts", columnMaxAttempts: "max_attempts", columnRunAt: "run_at",
		columnLockedAt: "locked_at", columnOwner: "locked_by", columnExpiresAt: "lease_expires_at",
		columnUpdatedAt: "updated_at", columnCancelledBy: "cancelled_by",
	}
	archiveColumns = []string{columnID: "id", columnOwner: "archived_by"}
)

var errShort = errors.New("a message ended too early")

func newDecoder(schema string) *decoder {
	return &decoder{schema: schema, relations: map[uint32]*relation{}, names: map[string]string{}}
}

// readBegin reads the message which a transaction begins with: when it was committed, and
// at which position.
func readBegin(message []byte) (at time.Time, commit pglogrepl.LSN, ok bool) {
	w := wire{rest: message}
	ok = pglogrepl.MessageType(w.byte()) == pglogrepl.MessageTypeBegin
	commit, at = pglogrepl.LSN(w.uint64()), timeOf(int64(w.uint64())).Time
	return at, commit, ok && !w.short
}

// readCommit reads the message which a transaction ends with: the position behind it.
func readCommit(message []byte) (end pglogrepl.LSN, ok bool) {
	w := wire{rest: message}
	ok = pglogrepl.MessageType(w.byte()) == pglogrepl.MessageTypeCommit
	w.take(1 + 8) // flags, and where the commit itself is
	end = pglogrepl.LSN(w.uint64())
	return end, ok && !w.short
}

// decode returns the change in a message; ok is false for messages which hold none of
// the jobs table. before gives the last known state of a row, for values that
// PostgreSQL does not repeat because they are stored out of line and did not change.
func (d *decoder) decode(message []byte, before func(int64) *row) (c change, ok bool, err error) {
	w := wire{rest: message}
	c.kind = pglogrepl.MessageType(w.byte())
	switch c.kind {
	case pglogrepl.MessageTypeRelation:
		err = d.describe(&w)
	case pglogrepl.MessageTypeInsert, pglogrepl.MessageTypeUpdate, pglogrepl.MessageTypeDelete:
		r := d.relations[w.uint32()]
		if r == nil || r.archive && c.kind == pglogrepl.MessageTypeUpdate {
			break
		}
		ok, c.archive = true, r.archive
		err = d.tuples(&w, r, &c, before)
	case pglogrepl.MessageTypeTruncate:
		n := w.uint32()
		w.byte() // CASCADE, RESTART IDENTITY
		for range n {
			r := d.relations[w.uint32()]
			ok = ok || r != nil && !r.archive
			if w.short {
				break
			}
		}
	case pglogrepl.MessageTypeOrigin, pglogrepl.MessageTypeType, pglogrepl.MessageTypeMessage:
	default:
		err = fmt.Errorf("there is a message of kind %q", byte(c.kind))
	}
	if err == nil && w.short {
		err = errShort
	}
	return c, ok && err == nil, err
}

// describe reads how a table's tuples are made up.
// Replica identities by which the stream can tell whose row was changed or deleted.
const (
	identityDefault = 'd' // the primary key
	identityFull    = 'f' // all columns
)

// errIdentity says that changes of jobs do not name the job.
var errIdentity = errors.New("the replica identity of the jobs table is not its primary key: ALTER TABLE … REPLICA IDENTITY DEFAULT")

func (d *decoder) describe(w *wire) error {
	oid, schema, table := w.uint32(), w.text(), w.text()
	identity := w.byte()
	delete(d.relations, oid)
	r := &relation{archive: table == "jobs_archive"}
	if schema != d.schema || table != "jobs" && !r.archive {
		return nil
	}
	if !r.archive && oid != d.table {
		return errReplaced
	}
	if !r.archive && identity != identityDefault && identity != identityFull {
		return errIdentity
	}
	known := jobsColumns
	if r.archive {
		known = archiveColumns
	}
	for range w.uint16() {
		w.byte() // part of the key
		at := slices.Index(known, w.text())
		w.uint32() // its type
		w.uint32() // and what modifies that
		if w.short {
			return errShort
		}
		r.columns = append(r.columns, column(max(at, 0)))
	}
	var missing []string
	for at, name := range known {
		if name != "" && column(at) != columnCancelledBy && !slices.Contains(r.columns, column(at)) {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 0:
		d.relations[oid] = r
	case !r.archive:
		return fmt.Errorf("the publication leaves out %v of the jobs table: add them to its column list", missing)
	}
	return nil
}

// tuples reads the rows of a change: the new one, and before it the old one where its
// key was another.
func (d *decoder) tuples(w *wire, r *relation, c *change, before func(int64) *row) error {
	old := w.byte() != 'N'
	unchanged, err := d.tuple(w, r)
	c.id = d.row.id
	if err == nil && old && c.kind == pglogrepl.MessageTypeUpdate {
		w.byte() // N
		unchanged, err = d.tuple(w, r)
	}
	switch {
	case err != nil:
		return err
	case c.kind == pglogrepl.MessageTypeDelete:
		return nil
	case r.archive:
		c.by = d.row.owner
		return nil
	}
	c.after = &d.row
	if unchanged != 0 {
		if last := before(c.id); last != nil {
			d.row.take(last, unchanged)
		}
	}
	return nil
}
