package queue

import (
	"math/rand/v2"
	"time"
)

// Backoff is how long a job waits after a retryable error, given its attempts so
// far (at least 1). Negative results count as zero: never in the past.
type Backoff func(attempts int) time.Duration

// backoffCap bounds the exponent, so that delays do not reach days.
const backoffCap = 6

// DefaultBackoff is 2^attempts minutes, the exponent capped at 6 (64 minutes), plus up
// to a tenth so that what failed together does not return together.
func DefaultBackoff(attempts int) time.Duration {
	delay := time.Minute << min(max(attempts, 0), backoffCap)
	return delay + rand.N(delay/10+1)
}
