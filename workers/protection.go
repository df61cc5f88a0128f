package workers

import (
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// lacks tells whether a test took a protection out: that is in the context of Start.
func (p *Pool) lacks(protection without.Protection) bool {
	return p.base != nil && without.Lacks(p.base, protection)
}

// anybody is the owner that all claims of all pools write where fencing was taken out.
var anybody = queue.Token{Process: "any:0:00000000", Worker: "any", Claim: 1}.String()

// endless is how long a lease is trusted where the end of trust was taken out.
const endless = 10 * 365 * 24 * time.Hour
