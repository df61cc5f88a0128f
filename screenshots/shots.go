package main

// shot is one picture: what to do, and what must stand on the screen then.
type shot struct {
	Name  string   // of the file, without .png
	Keys  []string // pressed one after the other; see term.Key
	Until []string // regular expressions, all to be found on the screen at once
}

// scene is one run of the program, in which shots are taken in order: each
// goes on from the screen of the one before.
type scene struct {
	Width, Height int
	Shots         []shot
}

var scenes = []scene{
	{Width: 120, Height: 36, Shots: []shot{
		{Name: "overview", Until: []string{`QUEUES`, `LEASES [1-9]`, `DEAD LETTERS [1-9]`, `EVENTS`}},
		{Name: "dead-letters", Keys: []string{"3"}, Until: []string{`DEAD LETTERS`}},
		{Name: "detail", Keys: []string{"enter"}, Until: []string{`(?i)payload`, `(?i)attempt`}},
		{Name: "workers", Keys: []string{"esc", "4"}, Until: []string{`WORKERS`}},
		{Name: "help", Keys: []string{"?"}, Until: []string{`(?i)quit`}},
	}},
	{Width: 80, Height: 24, Shots: []shot{
		{Name: "small", Until: []string{`QUEUES`}},
	}},
}
