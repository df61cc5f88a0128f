package cli

import (
	"testing"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }
