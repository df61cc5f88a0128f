package testdb

import (
	"errors"
	"testing"

	"github.com/leasetop/leasetop/sql/local"
)

// Standby gives the test a hot standby of its server, which [local.Server.Promote], or
// `SELECT pg_promote()`, makes a primary of its own. A test is skipped where there is no
// pg_basebackup.
func Standby(t testing.TB, of *local.Server) *local.Server {
	t.Helper()
	dir, err := local.ScratchFolder()
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	o := local.Options{Dir: dir, Name: uniqueName("own"), Unsafe: true}
	standby, err := of.Standby(t.Context(), o)
	if errors.Is(err, local.ErrNoCopies) {
		t.Skipf("there is no standby: %v", err)
	}
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	endWithTest(t, standby, o)
	return standby
}
