// Command leasetop is a work queue on one PostgreSQL table, and its dashboard.
// The grammar of its command line is ui/command.
package main

import (
	"os"
	"runtime/debug"

	"github.com/leasetop/leasetop/ui/command"
)

func main() { os.Exit(command.Main(version())) }

// release is set by the Makefile.
var release string

func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
