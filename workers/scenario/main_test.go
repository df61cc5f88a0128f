package scenario

import (
	"testing"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers/faults"
)

func TestMain(m *testing.M) {
	faults.ChildMain() // this may be a worker process
	testdb.Main(m)
}
