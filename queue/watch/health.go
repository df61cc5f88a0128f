package watch

import (
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Checkup is what may trouble the queue or this feed, before it does. It is read every
// few seconds from the server's catalog and statistics, and of the jobs table only the rows
// that were noted as refused.
// [State.Findings] judges it.
type Checkup struct {
	Read   time.Time // local clock (monotonic) of the newest reading; zero before the first
	At     time.Time // database clock of it
	Reason string    // why no newer one could be made, and the cure; "" when it could
	Drift  Drift

	// Notifications is how full the server's notification queue is, of 1.
	Notifications float64
	Rows          Rows
	Waiting       Waiting
	Parts         []Part // what the migrations made beside the rows
	Paths         []Path // that put others' functions and operators before PostgreSQL's
	PartsOld      bool   // Parts are of an earlier checkup: the table was locked
	Slots         []Slot // our own first, then those that hold most of the write-ahead log
	Open          []Transaction
	Hidden        int // sessions of others whose transactions this role may not see
	// Refused are jobs that the server refuses to change, as the processes noted that met
	// them; the first of them, those refused longest first.
	Refused []queue.Refused
}

// Drift is what the last comparison of State with the table found.
type Drift struct {
	Checked time.Time // local clock; zero when there was none yet
	Jobs    int64     // how many jobs were compared
	Off     int64     // how many counts differed: 0, or State was wrong
	Reason  string    // why the last try could not be made; "" when it was
}

// Rows is how the rows of the jobs table are kept, as the server's statistics have it.
type Rows struct {
	Standby      bool      // it counts no dead rows: Live and Dead are not known
	Uncounted    bool      // track_counts is off: neither are they here
	Live, Dead   int64     // estimates
	VacuumFrom   int64     // at how many dead rows autovacuum comes
	Overdue      time.Time // database clock since when this feed has seen that many, and no vacuum; zero: it does not
	Vacuumed     time.Time // by hand; zero: never since the statistics began
	Autovacuumed time.Time // by itself; zero likewise
	ServerOff    bool      // autovacuum is off on the server
	TableOff     bool      // autovacuum is off for the table
	Age          int64     // of the oldest transaction id in the table, in transactions
	FreezeFrom   int64     // the Age at which PostgreSQL vacuums in any case
}

// Waiting is who waits for the jobs table itself, not for a row of it. Somebody wants the
// table alone, and all who come later wait behind that.
type Waiting struct {
	Sessions int         // 0: nobody does
	Since    time.Time   // database clock; zero when it has only begun
	Behind   Transaction // that all of them wait for
}

// Part is an index, a trigger or a publication that belongs to the queue's tables.
type Part struct {
	Kind    string // "index", "trigger" or "publication"
	Table   string // without its schema
	Name    string
	Without string // what happens without it
	State   PartState
	Made    string // an index's columns and condition, a publication's columns; as it should be
	Lacks   string // columns that the publication leaves out
}

// PartState is how a [Part] is.
type PartState string

// How a part can be. Spare is an invalid index that no migration made: what a failed
// CREATE or REINDEX CONCURRENTLY leaves.
const (
	PartFine     PartState = "fine"
	PartMissing  PartState = "missing"
	PartInvalid  PartState = "invalid"  // an index that no query uses
	PartBuilding PartState = "building" // an index, just now
	PartChanged  PartState = "changed"  // not what the migrations made
	PartOff      PartState = "off"      // a trigger
	PartFiltered PartState = "filtered" // a publication that leaves out some changes
	PartSpare    PartState = "spare"
)

// Path is a search_path that is set with other schemas before pg_catalog.
type Path struct {
	Role     string // "" for every role
	Database string // "" for each
	Path     string
}

// Slot is a replication slot of the server.
type Slot struct {
	Name      string
	Own       bool // of this feed
	Feed      bool // of this or another leasetop's feed
	Active    bool // somebody reads it
	PID       int64
	Temporary bool
	Held      int64  // bytes of write-ahead log that it keeps from being removed
	Status    string // the server's word for that: "reserved", "extended", "unreserved", "lost"
}

// Transaction is one that was open at the reading.
type Transaction struct {
	PID      int64  // 0: a prepared one, which belongs to no process
	Name     string // the session's application, or the name it was prepared under
	User     string
	Database string
	Here     bool      // in the queue's database
	State    string    // as in pg_stat_activity, or "prepared"
	Began    time.Time // database clock
	Writes   bool      // it has written: a new replication slot waits for its end
	Looks    bool      // it holds a snapshot: what died since cannot be vacuumed
}
