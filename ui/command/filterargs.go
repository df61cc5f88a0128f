package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/ui/safe"
)

// filterHelp says in a command's long text how its filter is written.
const filterHelp = "A filter is words side by side, and all of them must hold: " +
	`queue:emails kind:send status:dead error:"421" attempts:>3 age:>1h died:<10m worker:w3 id:10..20 key:K payload.to:ann@example.com. ` +
	"A comma means or, a ! before a word means not, a * at the end means begins with, and a bare word is looked for in error, queue, kind and key.\n\n" +
	"The shell takes quotes, >, <, ! and * for itself: put the whole filter in single quotes, 'queue:emails error:\"rate limited\" attempts:>3'. " +
	"Words that need none may stand as arguments of their own; they are joined by blanks."

// maskHelp says in a command's long text what becomes of secrets.
const maskHelp = "Secrets (what is called password, token, api_key and the like) are masked in tables, and not in JSON, which is for programs."

// parseFilter understands the filter in a command's arguments. A mistake in it is one of
// how the command was called, and is shown where it stands.
func parseFilter(cmd *cobra.Command, args []string) (filter.Filter, error) {
	text := strings.Join(args, " ")
	where, err := filter.Parse(text)
	var mistake *filter.Mistake
	switch {
	case errors.As(err, &mistake):
		help := fmt.Sprintf("%s (`%s --help` says more)", mistake, cmd.CommandPath())
		return where, cli.Usage(help + "\n" + pointed(text, mistake.From, mistake.To))
	case err != nil:
		return where, withHelp(cmd, err.Error())
	}
	return where, nil
}

// How much of a filter is shown around a mistake, in cells: it may be very long.
const (
	shownBefore = 50
	shownWrong  = 24
)

// pointed is a text as one line, and under it a line with a caret under each cell of some
// of its bytes, or one behind the text when they are beyond it.
func pointed(text string, from, to int) string {
	from = min(max(from, 0), len(text))
	to = min(max(to, from), len(text))
	before, wrong, after := safe.Text(text[:from]), safe.Text(text[from:to]), safe.Text(text[to:])
	if w := safe.Width(before); w > shownBefore {
		before = ansi.TruncateLeft(before, w-shownBefore+1, "…")
	}
	if safe.Width(wrong) > shownWrong {
		wrong, after = strings.TrimRight(safe.Fit(wrong, shownWrong), " "), ""
	}
	if safe.Width(after) > shownWrong {
		after = strings.TrimRight(safe.Fit(after, shownWrong), " ")
	}
	carets := strings.Repeat("^", max(safe.Width(wrong), 1))
	return before + wrong + after + "\n" + strings.Repeat(" ", safe.Width(before)) + carets
}
