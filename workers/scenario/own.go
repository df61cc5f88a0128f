package scenario

// What a play does to somebody's own database, as everybody is told who is asked whether it
// may be played there.
const (
	OnSomebodysOwn = "Workers of its own take jobs of its own, crash, and all that is removed at the end, " +
		"but for what the server's statistics and its WAL remember. Other queues are not touched."
	// Left is what stays of it in the schema.
	Left = "two empty tables, scenario_runs and scenario_ledger"
)
