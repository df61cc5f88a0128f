package watch

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
)

// SQLSTATEs that the stream can meet.
const (
	lockNotAvailable    = "55P03"
	insufficientRight   = "42501"
	noAuthorization     = "28000"
	configurationLimit  = "53400"
	tooManyConnections  = "53300"
	protocolViolation   = "08P01"
	objectNotReady      = "55000"
	featureNotSupported = "0A000"
	undefinedColumn     = "42703"
	syntaxError         = "42601"
)

// slotRequirements is the function of PostgreSQL that refuses a slot when
// max_replication_slots is 0. Errors name it, and it has one name in every language.
const slotRequirements = "CheckSlotRequirements"

// switchedOff is the reason of a connection that was not asked for.
const switchedOff = "switched off"

// walReason says in an operator's words why there is no stream and what would cure
// it; byPerson is true when trying again soon is of no use.
func walReason(err error, role string) (reason string, byPerson bool) {
	var level walLevelError
	var blocked *blockedError
	var server *pgconn.PgError
	var many tooManyError
	var elsewhere elsewhereError
	switch {
	case errors.As(err, &level):
		return fmt.Sprintf("wal_level is %s: ALTER SYSTEM SET wal_level = 'logical' and restart PostgreSQL", string(level)), true
	case errors.Is(err, errStandby):
		return "connected to a standby: the stream needs the primary", true
	case errors.Is(err, errNoTable):
		return "the jobs table does not exist yet: run `leasetop migrate up`", true
	case errors.Is(err, errNoPublication):
		return err.Error() + ": health has the CREATE PUBLICATION that its owner is to run; the migration may not have had the right", true
	case errors.Is(err, errLeftOut):
		return err.Error() + ", so the stream's counts would be wrong: health has the statements that mend it", true
	case errors.Is(err, queue.ErrEncoding):
		return say(err), true
	case errors.As(err, &blocked):
		return blocked.reason(), false
	case errors.As(err, &elsewhere):
		return elsewhere.Error(), true
	case errors.As(err, &server):
		return walServerReason(server, role)
	case errors.As(err, &many):
		return fmt.Sprintf("more than %s jobs are not completed: counts are polled and capped until they are fewer", thousands(int(many))), true
	case errors.Is(err, errIdentity), errors.Is(err, errRowSecurity):
		return err.Error(), true
	case errors.Is(err, errSilent):
		return errSilent.Error() + ": the connection is replaced", false
	}
	return say(err), false
}

func walServerReason(err *pgconn.PgError, role string) (reason string, byPerson bool) {
	switch {
	case err.Code == lockNotAvailable:
		return "an open write transaction somewhere in the cluster holds up the replication slot: attaches when that ends", false
	case err.Code == insufficientRight:
		return "the role may not replicate: ALTER ROLE " + pgx.Identifier{role}.Sanitize() + " REPLICATION, if it is for watching alone: with that it can read every table of the cluster (" + err.Message + ")", true
	case err.Code == noAuthorization:
		return "the server lets in no replication connection: ALTER ROLE " + pgx.Identifier{role}.Sanitize() + " REPLICATION, if it is for watching alone, and a rule of pg_hba.conf, would (" + err.Message + ")", true
	case err.Code == configurationLimit, err.Code == objectNotReady && err.Routine == slotRequirements:
		return "all replication slots are in use: raise max_replication_slots, or drop one that nobody reads (pg_replication_slots)", true
	case err.Code == tooManyConnections:
		return "no connection left for a replication stream: raise max_wal_senders or max_connections (" + err.Message + ")", true
	case err.Code == protocolViolation && err.Routine == "", // of no PostgreSQL
		err.Code == syntaxError: // it took the connection for one that speaks SQL
		// Without its message, which names whichever of our parameters it came to first.
		return "a pooler stands between, which passes no replication: connect to PostgreSQL itself", true
	case err.Code == featureNotSupported:
		return "a pooler stands between, which passes no replication: connect to PostgreSQL itself (" + err.Message + ")", true
	case err.Code == undefinedColumn:
		return "the schema is older than this program: run `leasetop migrate up` (" + err.Message + ")", true
	case err.Code == canceledCode:
		return "reading the jobs takes longer than this role's statement_timeout: raise it; or somebody cancelled it, as pg_cancel_backend does; counts are polled", false
	case err.Code == objectNotReady:
		return err.Message + " (" + err.Code + ")", true
	}
	return err.Message + " (" + err.Code + ")", false
}

// reason names when the transaction began, not its age: the same reason stays the
// same text, and is one event.
func (e *blockedError) reason() string {
	since := e.since.UTC().Format("15:04:05 UTC")
	if e.pid == 0 {
		return fmt.Sprintf("the prepared transaction %q of %s, open since %s, holds up the replication slot: attaches when it is committed or rolled back",
			e.name, e.who, since)
	}
	return fmt.Sprintf("the write transaction of process %d (%s, user %s), open since %s, holds up the replication slot: attaches when it ends",
		e.pid, e.name, e.who, since)
}
