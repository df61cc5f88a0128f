// Package lanes draws who held which job when, as swim-lanes: a lane for each
// worker, time from left to right, a letter for each job.
//
//	w1 ···AAAAAAAAAAAAAAAAAAA···········CCCCCCCCC
//	w2 ▂▂··BBBBBBBBBB✗░░░░░░░░░┄╮
//	w3 ·········DDDDDDDDDDD·····↳B²BBBBBBBBBBBB··
//
// Here w2 crashes (✗) while it holds B. Its lease runs on (░), in which nobody
// may have the job; then w3 takes it over (↳), as its second attempt, and the job
// keeps its letter. That is all there is to a lease, in one picture.
//
// A [Recorder] is fed with observations, at any pace: what is held now, and how
// the workers are. It keeps a few minutes of them, and no more than so many. Draw
// makes rows of cells of it, whose styles say what a cell means; whoever shows
// them decides on colours. Nothing is said by a style alone: each has its glyph.
// The package knows neither database nor terminal, and no clock but its callers'.
package lanes
