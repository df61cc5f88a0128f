package watch

import "time"

// Checkup is what may trouble the queue or this feed, before it does.
type Checkup struct {
	Read   time.Time // local clock (monotonic) of the reading; zero before the first
	Reason string    // why it cannot be read, and the cure; "" when it was
	Drift  Drift
}

// Drift is what the last comparison of State with the table found.
type Drift struct {
	Checked time.Time // local clock; zero when there was none yet
	Jobs    int64     // how many jobs were compared
	Off     int64     // how many counts differed: 0, or State was wrong
	Reason  string    // why the last try could not be made; "" when it was
}
