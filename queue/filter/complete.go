package filter

// Known is what there is to complete names with.
type Known struct {
	Queues, Kinds, Workers []string
}

// Completion is one way to go on at the cursor.
type Completion struct {
	From, To int    // the bytes that it replaces
	Text     string // with what
	Note     string // what that means, in a few words; may be ""
}

// Complete tells how a text can go on at a place in it, the likeliest first.
func Complete(text string, at int, known Known) []Completion { return nil }
