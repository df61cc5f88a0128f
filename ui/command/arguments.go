package command

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/ui/cli"
)

// withHelp is an error about how a command was called, and where to read more.
func withHelp(cmd *cobra.Command, text string) error {
	return cli.Usage(fmt.Sprintf("%s (`%s --help` says more)", text, cmd.CommandPath()))
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return withHelp(cmd, fmt.Sprintf("%s takes no arguments, but was given %q", cmd.CommandPath(), args))
	}
	return nil
}

// unknownCommand is for commands that only have commands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command %q", strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())+" "+args[0]))
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return withHelp(cmd, text)
}

func oneID(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return withHelp(cmd, fmt.Sprintf("%s takes one id, but was given %d", cmd.CommandPath(), len(args)))
	}
	return someIDs(cmd, args)
}

// onePlan takes the id of a plan.
func onePlan(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		if _, err := parseIDs(args); err != nil {
			return withHelp(cmd, fmt.Sprintf("%q is no plan id: use a whole number like 14, which `leasetop plan list` tells", args[0]))
		}
	}
	return oneID(cmd, args)
}

func someIDs(cmd *cobra.Command, args []string) error {
	if _, err := parseIDs(args); err != nil {
		return withHelp(cmd, err.Error())
	}
	return nil
}

// parseIDs reads job ids, with or without the # that screens put before them.
func parseIDs(args []string) ([]int64, error) {
	ids := make([]int64, 0, len(args))
	for _, arg := range args {
		id, err := strconv.ParseInt(strings.TrimPrefix(arg, "#"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no job id: use a whole number like 42", arg)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// wholeNumber is what an id looks like.
var wholeNumber = regexp.MustCompile(`^#?[0-9]+$`)

// idsOrFilter tells whether arguments are ids, and which, or the words of a filter. Both at
// once are refused: a number among words would be looked for as a text, and find others.
func idsOrFilter(cmd *cobra.Command, args []string) (ids []int64, words bool, err error) {
	var numbers []string
	for _, arg := range args {
		if wholeNumber.MatchString(arg) {
			numbers = append(numbers, strings.TrimPrefix(arg, "#"))
		}
	}
	switch {
	case len(numbers) == 0:
		return nil, len(args) > 0, nil
	case len(numbers) < len(args):
		return nil, false, withHelp(cmd, fmt.Sprintf("ids or a filter, not both: did you mean id:%s?", strings.Join(numbers, ",")))
	}
	if ids, err = parseIDs(args); err != nil {
		return nil, false, withHelp(cmd, err.Error())
	}
	return ids, false, nil
}

// someQueues takes names of queues.
func someQueues(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return withHelp(cmd, "a queue's name is empty: name it, or leave it out")
	}
	return nil
}

// span is a flag that says how long; text is "" when it was not said.
type span struct {
	text string
	long time.Duration
}

func (s *span) Type() string   { return "duration" }
func (s *span) String() string { return s.text }
func (s *span) Set(text string) (err error) {
	s.text = text
	if s.long, err = cli.ParseDuration(text); err != nil {
		return errors.New("use a length of time like 90s, 36h or 7d, at most 100 years")
	}
	return nil
}

// number is a flag that counts something: 1 or more.
type number int

func (n *number) Type() string   { return "number" }
func (n *number) String() string { return strconv.Itoa(int(*n)) }
func (n *number) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil || v < 1 {
		return fmt.Errorf("use a whole number from 1 to %d", math.MaxInt32)
	}
	*n = number(v)
	return nil
}

// few is a number with a limit.
type few struct {
	n    *number
	most int
}

func (f few) Type() string   { return "number" }
func (f few) String() string { return strconv.Itoa(int(*f.n)) }
func (f few) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > f.most {
		return fmt.Errorf("use a whole number from 1 to %d", f.most)
	}
	*f.n = number(v)
	return nil
}

// statuses is a flag that lists exit statuses of a program.
type statuses []int

func (s *statuses) Type() string { return "status,…" }
func (s *statuses) String() string {
	words := make([]string, len(*s))
	for i, status := range *s {
		words[i] = strconv.Itoa(status)
	}
	return strings.Join(words, ",")
}

func (s *statuses) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		status, err := strconv.Atoi(word)
		if err != nil || status < 1 || status > 255 {
			return errors.New("use exit statuses from 1 to 255 with commas between them, like 1,7")
		}
		*s = append(*s, status)
	}
	return nil
}

// jobID is a flag that names a job; 0 when it was not said.
type jobID int64

func (j *jobID) Type() string { return "id" }
func (j *jobID) String() string {
	if *j == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*j), 10)
}

func (j *jobID) Set(text string) error {
	ids, err := parseIDs([]string{text})
	if err != nil || ids[0] == 0 {
		return errors.New("use a job's id, a whole number like 42")
	}
	*j = jobID(ids[0])
	return nil
}

// format is the flag -o.
type format cli.Format

func (f *format) Type() string   { return "format" }
func (f *format) String() string { return string(*f) }
func (f *format) Set(text string) error {
	switch cli.Format(text) {
	case cli.Table, cli.JSON:
		*f = format(text)
		return nil
	}
	return errors.New("use table or json")
}
