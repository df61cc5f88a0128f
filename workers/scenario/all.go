package scenario

// All are the scenarios in the order in which they are told. Each call makes them anew:
// a Scenario is played once.
func All() []Scenario {
	return []Scenario{
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
