package stories

import "github.com/leasetop/leasetop/workers/scenario"

// All are the scenarios in the order in which they are told. Each call makes them anew:
// a [scenario.Scenario] is played once.
func All() []scenario.Scenario {
	return []scenario.Scenario{
		crash(),
		kill9(),
		zombie(),
		partition(),
		poison(),
		flaky(),
		wakeups(),
		restart(),
		failover(),
		race(),
		mistakeNoLease(),
		mistakeLongClaim(),
		mistakePolling(),
		mistakeRetryAll(),
		mistakeFIFO(),
		mistakeNoKey(),
		vacuum(),
		index(),
		redrive(),
		deploy(),
		burst(),
	}
}

// ByName finds a scenario, as [All] has it.
func ByName(name string) (scenario.Scenario, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return scenario.Scenario{}, false
}
