package ui

import (
	"fmt"
	"strconv"
)

// thousands writes n with separators: 1,204,311.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	head := len(digits) % 3
	out := digits[:head]
	for i := head; i < len(digits); i += 3 {
		if out != "" {
			out += ","
		}
		out += digits[i : i+3]
	}
	return sign + out
}

// count writes n for a column of w cells: with separators where they fit, else
// shortened (1.2M, 50k). An estimate gets a tilde, nought too: none were come across.
func count(n int64, estimate bool, w int) string {
	if estimate {
		return "~" + fitCount(n, w-1)
	}
	return fitCount(n, w)
}

// bounded writes n as count does. A lower bound, of a count that went no further,
// gets a plus: 100k+.
func bounded(n int64, atLeast bool, w int) string {
	if atLeast {
		return fitCount(n, w-1) + "+"
	}
	return fitCount(n, w)
}

func fitCount(n int64, w int) string {
	s := thousands(n)
	if len(s) <= w {
		return s
	}
	f, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if f < 999.5 && f > -999.5 {
			break
		}
		f, unit = f/1000, u
	}
	if finer := fmt.Sprintf("%.1f%s", f, unit); unit != "" && len(finer) <= w {
		return finer
	}
	return fmt.Sprintf("%.0f%s", f, unit)
}

// rate writes a number per second: 0.0, 41.3, 412, 1.2k.
func rate(f float64) string {
	if f < 99.95 {
		return fmt.Sprintf("%.1f", f)
	}
	return count(int64(f+0.5), false, 4)
}

// plural writes "1 job", "31 jobs".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + one + "s"
}
