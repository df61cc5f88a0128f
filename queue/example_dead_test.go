package queue_test

import (
	"fmt"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// The dead letters that a filter finds, newest death first.
func ExampleQueue_DeadLetters() {
	q := open()
	defer q.Close()
	buried(q, queue.NewJob{Queue: "emails"}, "SMTP 421 from 10.0.0.7")
	buried(q, queue.NewJob{Queue: "emails"}, "no such template")
	buried(q, queue.NewJob{Queue: "emails"}, "SMTP 421 from 10.0.0.9")

	where, err := filter.Parse(`queue:emails error:"421"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for stretch := (queue.DeadStretch{Limit: 1, Look: 1000}); ; {
		var found queue.DeadFound
		if found, err = q.DeadLetters(ctx, where, stretch); err != nil {
			fmt.Println(err)
			return
		}
		for _, job := range found.Jobs {
			fmt.Println("job", job.ID, job.LastError)
		}
		if stretch.From = found.Next; stretch.From == nil {
			return
		}
	}
	// Output:
	// job 3 SMTP 421 from 10.0.0.9
	// job 1 SMTP 421 from 10.0.0.7
}

// What the dead letters died of: errors that differ only in numbers, ids, addresses and
// quoted texts are one problem.
func ExampleQueue_DeadGroups() {
	q := open()
	defer q.Close()
	buried(q, queue.NewJob{Queue: "emails", Kind: "send"}, "no such template")
	buried(q, queue.NewJob{Queue: "emails", Kind: "send"}, "SMTP 421 from 10.0.0.7")
	buried(q, queue.NewJob{Queue: "emails", Kind: "send"}, "SMTP 421 from 10.0.0.9")

	var groups queue.DeadGroups
	groups, err := q.DeadGroups(ctx, filter.Everything, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups.Total, "dead letters, all of them:", groups.Whole)
	for _, group := range groups.Groups {
		fmt.Println(group.Count, group.Fingerprint, "as job", group.Sample)

		found, err := q.DeadLetters(ctx, filter.Group(group.Queue, group.Kind, group.Fingerprint), queue.DeadStretch{})
		fmt.Println("  listed:", len(found.Jobs), err)
	}
	// Output:
	// 3 dead letters, all of them: true
	// 2 SMTP 421 from ‹host› as job 3
	//   listed: 2 <nil>
	// 1 no such template as job 1
	//   listed: 1 <nil>
}

// The set of an act on many, fixed when it is asked for: what dies of the same later is
// not in it.
func ExampleQueue_Matching() {
	q := open()
	defer q.Close()
	buried(q, queue.NewJob{Queue: "emails"}, "SMTP 421")
	buried(q, queue.NewJob{Queue: "images"}, "not an image")
	buried(q, queue.NewJob{Queue: "emails"}, "SMTP 421")

	where, err := filter.Parse("421")
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := q.Matching(ctx, queue.Filter{Statuses: queue.DeadLetters, Where: where}, func(found, looked int) {
		fmt.Println("found", found, "of", looked)
	})
	fmt.Println(ids, err)
	// Output:
	// found 2 of 3
	// [1 3] <nil>
}
