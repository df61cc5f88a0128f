package scenario_test

import (
	"testing"

	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestMain(m *testing.M) { scenariotest.Main(m) }
