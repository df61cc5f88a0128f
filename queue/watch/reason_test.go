package watch

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// The reasons are found by what an error is, not by its words: those are in the server's
// language.
func TestReasonsDoNotDependOnTheServersLanguage(t *testing.T) {
	t.Parallel()
	const words = "サーバーは拒否しました"
	for _, c := range []struct {
		err      pgconn.PgError
		says     string
		byPerson bool
	}{
		{pgconn.PgError{Code: "42501", Routine: "InitPostgres"}, "ALTER ROLE \"ann\" REPLICATION", true},
		{pgconn.PgError{Code: "28000", Routine: "InitializeSessionUserId"}, "the server lets in no replication connection", true},
		{pgconn.PgError{Code: "55000", Routine: "CheckSlotRequirements"}, "raise max_replication_slots", true},
		{pgconn.PgError{Code: "55000", Routine: "StartupDecodingContext"}, words + " (55000)", true},
		{pgconn.PgError{Code: "53400", Routine: "ReplicationSlotCreate"}, "raise max_replication_slots", true},
		{pgconn.PgError{Code: "08P01"}, "a pooler stands between", true},
		{pgconn.PgError{Code: "08P01", Routine: "ProcessStartupPacket"}, words + " (08P01)", false},
		{pgconn.PgError{Code: "57014", Routine: "ProcessInterrupts"}, "or somebody cancelled it", false},
	} {
		c.err.Message = words
		if reason, byPerson := walReason(&c.err, "ann"); !strings.Contains(reason, c.says) || byPerson != c.byPerson {
			t.Errorf("%s of %q: %q, by a person: %v", c.err.Code, c.err.Routine, reason, byPerson)
		}
	}
}
