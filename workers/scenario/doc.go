// Package scenario tells failure stories: each breaks something on purpose, in front of
// an audience, and asserts while it goes on that the queue keeps its promises.
//
// # One script, three uses
//
// A [Scenario] is data: what it shows, what it needs, how the world is set up, and steps,
// each with a narration, an act and what is to be seen then by a deadline. [Start] plays it:
//
//	on the Scenarios tab    the audience goes from step to step; see [Picture]
//	headless                as an integration test, and `leasetop scenario run`; see [Result]
//	for a recording         the README's moving pictures are plays of the tab
//
// # The world of a play
//
// A [Stage] is made for each play and taken down after it, also when it was cancelled or
// failed. On it are crews: a [Crew] stands for one process of workers, with connections of its
// own through a cable of its own, which can be cut. The assertions look over connections
// that no worker owns. Every effect of a job is entered in a ledger in the database, so
// that one which happened twice shows; who ran when is measured in this process.
//
//	Needs     where it plays
//	Queue     in queues of its own, in the schema at hand
//	Schema    in a schema of its own, in the database at hand
//	Server    on PostgreSQL servers of its own
//
// A database that is not marked for demonstrations sees only the first kind; see [Ground].
//
// # How to write one
//
// The stories are in workers/scenario/stories, and what several of them need to tell theirs.
// One file is one story: a function that returns the Scenario, in which closures share
// what they need, entered in the list of stories.All. At the beginning of each step the world
// must be steady for as long as the audience likes: handlers wait at a [Gate], not for a
// time. What differs from play to play comes from Stage.Rand, which the seed decides.
//
// Tests that play scenarios have their ground and their audience from
// workers/scenario/scenariotest.
package scenario
