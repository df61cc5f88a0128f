package cli

// workEvent is one line as JSON. What is about no single job has no id, and so on.
type workEvent struct {
	At          string   `json:"at"`
	Event       string   `json:"event"`
	ID          int64    `json:"id,omitzero"`
	Queue       string   `json:"queue,omitzero"`
	Kind        *string  `json:"kind,omitzero"`
	Worker      string   `json:"worker,omitzero"`
	Attempt     int      `json:"attempt,omitzero"`
	MaxAttempts int      `json:"max_attempts,omitzero"`
	Seconds     float64  `json:"seconds,omitzero"`
	DelaySecs   float64  `json:"delay_seconds,omitzero"` // until the job is tried again
	Owner       string   `json:"owner,omitzero"`
	Error       string   `json:"error,omitzero"`
	Text        string   `json:"text,omitzero"`
	Started     *started `json:"started,omitzero"`
	Summary     *summary `json:"summary,omitzero"`
}

type started struct {
	Queues       []string `json:"queues"`
	Workers      int      `json:"workers"`
	Slots        int      `json:"slots"`
	LeaseSeconds float64  `json:"lease_seconds"`
	GraceSeconds float64  `json:"grace_seconds"`
	Exec         []string `json:"exec"` // null in the demonstration
}

type summary struct {
	Claimed   uint64 `json:"claimed"`
	Completed int    `json:"completed"`
	Retried   int    `json:"retried"`
	Released  int    `json:"released"`
	Failed    int    `json:"failed"`
	Dead      int    `json:"dead"`
	Lost      uint64 `json:"lost"`
	Left      int    `json:"left"`
}
