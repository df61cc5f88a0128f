package queue

import (
	"encoding/json"
	"time"
)

// Status is where a job stands in its life; see the package comment.
type Status string

// The statuses, as the table spells them.
const (
	Pending    Status = "pending"    // waiting; due when RunAt is not after the database's now
	Processing Status = "processing" // leased to LockedBy until LeaseExpiresAt
	Completed  Status = "completed"  // done
	Failed     Status = "failed"     // gave up: a retryable error, attempts used up
	Dead       Status = "dead"       // poison: permanent error, worker lost too often, or cancelled
)

// Statuses lists every status in the order of a job's life.
var Statuses = []Status{Pending, Processing, Completed, Failed, Dead}

// DeadLetters are the statuses that only a person or a script ends, by redrive or discard.
var DeadLetters = []Status{Failed, Dead}

// IsDeadLetter tells whether a job of this status is a dead letter.
func (s Status) IsDeadLetter() bool { return s == Failed || s == Dead }

// Job is one row of the table. All its times are of the database's clock.
type Job struct {
	ID             int64           `json:"id"`
	Queue          string          `json:"queue"`
	Kind           string          `json:"kind"`              // which handler; "" means by queue
	Payload        json.RawMessage `json:"payload,omitempty"` // verbatim as PostgreSQL prints jsonb; nil when not loaded
	Status         Status          `json:"status"`
	Attempts       int             `json:"attempts"` // claims so far; a crash counts
	MaxAttempts    int             `json:"max_attempts"`
	RunAt          Time            `json:"run_at"`           // not before; may be infinite
	LockedAt       *time.Time      `json:"locked_at"`        // nil unless processing
	LockedBy       string          `json:"locked_by"`        // the fencing token; "" unless processing. Foreign workers write any text
	LeaseExpiresAt *time.Time      `json:"lease_expires_at"` // nil unless processing
	LastError      string          `json:"last_error"`       // "" none; kept when a later attempt succeeds
	Errors         []Attempt       `json:"errors,omitempty"` // oldest first, at most 20; nil when not loaded
	Fingerprint    string          `json:"fingerprint"`      // LastError with its variable parts masked
	IdempotencyKey string          `json:"idempotency_key"`  // "" none
	CancelledBy    string          `json:"cancelled_by"`     // who asked for it to be cancelled; "" nobody. See Queue.Cancel
	DiedAt         *time.Time      `json:"died_at"`          // nil unless failed or dead
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
}

// Attempt is one entry of a job's history: how one claim ended, or what an operator did.
type Attempt struct {
	Attempt int       `json:"attempt"` // the value of Attempts at the time
	At      time.Time `json:"at"`      // the database's clock
	Worker  string    `json:"worker"`  // the fencing token of the claim, or the operator's name
	Outcome string    `json:"outcome"` // retry, failed, buried, lost, cancelled, cancel asked, redriven, taken back, restored
	Error   string    `json:"error"`   // at most 2,000 characters
}

// Lease names one claim of one job. Every write that ends or extends a claim takes it.
type Lease struct {
	ID    int64
	Token string // the owner exactly as the claim wrote it
}

// Lease returns the claim under which this job was returned by [Queue.Claim].
func (j *Job) Lease() Lease { return Lease{ID: j.ID, Token: j.LockedBy} }
