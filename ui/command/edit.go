package command

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/ui/cli"
)

func addEdit(root *cobra.Command, o *options, add adder) {
	var e cli.Editing
	var payload string
	cmd := add(root, &cobra.Command{
		Use: "edit ID", Short: "Change the payload of a job that waits or is a dead letter",
		Long: "Change the payload of a job that waits or is a dead letter, in your editor ($VISUAL or $EDITOR), or to what --payload says.\n\n" +
			"Numbers are kept as they are written. The payload that was there is kept too: `leasetop show` prints it. When somebody else changed it meanwhile, or claimed the job, " +
			"nothing is written. A text that cannot be written stays in a file that the error names.",
		Example: "leasetop edit 17 --redrive --why 'a typo in the address'\nleasetop show 17 -o json | jq '.payload.to = \"ann@example.com\" | .payload' | leasetop edit 17 --payload -",
	}, oneID, func(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
		ids, _ := parseIDs(args) // oneID has looked
		e.ID = ids[0]
		if cmd.Flags().Changed("payload") && payload == "" {
			return withHelp(cmd, "--payload is empty: write {} for none, or leave it out to edit")
		}
		if e.Payload, err = cli.Payload(ctx, payload, os.Stdin); err != nil {
			return err
		}
		return cli.With(ctx, o.where(), func(d *cli.Database) error { return cli.Edit(ctx, o.printer(), d.Queue, e) })
	})
	flags := cmd.Flags()
	flags.StringVar(&payload, "payload", "", "the new payload: JSON, @file, or - for standard input; 256 MB at most (default: your editor asks)")
	flags.BoolVar(&e.Redrive, "redrive", false, "and bring it back: pending now, attempts from zero; both or neither")
	flags.BoolVar(&e.DryRun, "dry-run", false, "only tell what would be written")
	flags.StringVar(&e.Why, "why", "", "the reason, for whoever reads its history")
}
