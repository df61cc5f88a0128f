// Package stories has the failure stories that package scenario plays, and what they tell
// them with. A new one begins with the page of that package, "How to write one".
//
//	All         the stories, each in a file of its name
//	mistakes    what queues get wrong when they are built at home: mistake_*.go
//	Soak        no story: random faults under load
//
// The other files are what stories have in common, or what one needs besides the telling:
//
//	traffic     a load and its workers, for stories in which jobs flow; the plot of them in throughput
//	beside      what goes on beside the steps
//	pace        how fast something goes, and going on no faster than can be watched
//	probe       a worker that measures what a claim takes: of index and vacuum
//	racer       one way to claim in a race: of race
//	calllog     when a dependency was called: of flaky
//	planner     redrive plans, and heap, their dead letters as bars: of redrive
//	clerk       effects of many jobs at a time: of burst
//	breakage    what breaks, and is mended: of Soak
package stories
