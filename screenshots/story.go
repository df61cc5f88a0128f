package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/stories"
)

// A step goes on when what came of the one before could be looked at, and what
// is told of it be read, so long for each letter: quickly, for who wants to read
// it all sees the film again.
const (
	looking = time.Second
	pace    = 25 * time.Millisecond
)

// story films a scenario as an audience has it played: each step goes on when
// what is told of it could be read, until the play has passed. The stage is
// set, and the first step told, when the film begins.
func story(name string, width, height int) recording {
	steps := acts(name)
	for i, s := range stories.All()[place(name)].Steps {
		steps[i+1].Read = looking + time.Duration(utf8.RuneCountInString(s.Say))*pace
	}
	return recording{
		Name: name, Width: width, Height: height, Ready: `QUEUES`,
		Before: append(choose(name), steps[0]), Steps: steps[1:],
	}
}

// choose goes from the first screen to a scenario on the list of all.
func choose(name string) []step {
	return []step{
		{Keys: []string{"5"}, Until: []string{`SCENARIOS \d+`}},
		{
			Keys: slices.Repeat([]string{"j"}, place(name)),
			// Below the list it is told of, and nothing is said against playing it.
			Until: []string{`╭─ ` + regexp.QuoteMeta(strings.ToUpper(name)) + ` ─`, `\n│ [^ !].*│\n╰─+╯\n.*enter play`},
		},
	}
}

// acts play a scenario that is chosen: the first has the stage set, each other
// is a step of the story.
func acts(name string) []step {
	all := len(stories.All()[place(name)].Steps)
	acts := []step{{Keys: []string{"enter"}, Until: []string{fmt.Sprintf(`YOUR TURN .*step 1 of %d`, all)}}}
	for over := 1; over <= all; over++ {
		stands := fmt.Sprintf(`YOUR TURN .*step %d of %d`, over+1, all)
		if over == all {
			stands = fmt.Sprintf(`PASSED .*step %d of %d`, all, all)
		}
		acts = append(acts, step{Keys: []string{"space"}, Until: []string{stands}})
	}
	return acts
}

// place is where a scenario stands on the list.
func place(name string) int {
	at := slices.IndexFunc(stories.All(), func(s scenario.Scenario) bool { return s.Name == name })
	if at < 0 {
		panic("no scenario is named " + name)
	}
	return at
}
