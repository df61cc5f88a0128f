package languages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// The rights that the project's README gives to look and to work are enough.
func TestRightsToWorkAreEnough(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
		do(t, connect(t, url), "create role "+role)
		t.Cleanup(func() {
			for _, statement := range []string{"drop owned by " + role, "drop role " + role} {
				if _, err := q.Pool().Exec(context.Background(), statement); err != nil {
					t.Error(err)
				}
			}
		})
		grants := regexp.MustCompile(`(?m)^(GRANT .+ TO )app; +-- (?:look|work)\b`).FindAllStringSubmatch(read(t, os.DirFS("../.."), "README.md"), -1)
		if len(grants) < 4 {
			t.Fatalf("found only the grants %q", grants)
		}
		for _, grant := range grants {
			do(t, connect(t, url), grant[1]+role)
		}
		expired := value[int64](t, connect(t, url), `insert into leasetop.jobs (queue, status, locked_by, lease_expires_at)
			values ('emails', 'processing', 'somebody who died', now()) returning id`)
		poison := enqueue(t, q, queue.NewJob{}, "poison")
		failing := enqueue(t, q, queue.NewJob{MaxAttempts: 2}, "fail")
		p := start(t, l, options{URL: url + "&options=-crole%3D" + role, Lease: 1})
		until(t, q, expired, queue.Completed)
		until(t, q, poison, queue.Dead)
		until(t, q, failing, queue.Failed)
		if n := p.count("(heartbeats|claims|reclaims|wake-ups): .*"); n > 0 {
			t.Errorf("%d complaints", n)
		}
	})
}
