package watch

import (
	"fmt"
	"regexp"
	"strings"
)

// grouped writes a count with its thousands apart: 1,204.
func grouped(n int64) string { return thousands(int(n)) }

// manyOf writes "1 slot", "1,204 slots".
func manyOf(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// rounded writes a count, a large one to two or three digits, so that it rests while
// little changes.
func rounded(n int64) string {
	switch {
	case n < 10_000:
		return grouped(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	case n < 100_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return grouped(n/1_000_000) + "M"
}

// size writes bytes, likewise.
func size(bytes int64) string {
	const mb = 1 << 20
	switch {
	case bytes < mb:
		return "under 1 MB"
	case bytes < 1000*mb:
		return fmt.Sprintf("%d MB", bytes/mb)
	case bytes < 100<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	}
	return grouped(bytes>>30) + " GB"
}

// percent writes a part of 1. What is more than nothing never reads as nothing.
func percent(part float64) string {
	if part > 0 && part < 0.01 {
		return "under 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// literal quotes a text for SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// identifier quotes a name for SQL where it has to be.
func identifier(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
