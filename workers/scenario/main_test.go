package scenario

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers/faults"
)

// abreast is how many stories a processor plays at a time: they wait for leases to run out,
// most of the time.
const abreast = 3

func TestMain(m *testing.M) {
	faults.ChildMain() // this may be a worker process
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(abreast*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testdb.Main(m)
}
