package ui

// deadSet is what an act on dead letters is about: ids that are fixed from the moment the
// question is put, whatever dies, is redriven or matches later.
type deadSet struct {
	ids    []int64  // oldest death first
	filter string   // what chose them, as it was typed; "" when they were named one by one
	says   []string // what they are, a line each, styled and safe: for the question
}
