package cli

import "github.com/leasetop/leasetop/ui/mask"

// veil hides secrets from what is printed for people, unless it is off. Every table goes
// through one; as JSON, for programs, everything is printed as it is in the database.
type veil struct {
	off    bool
	masked int
}

func (v *veil) payload(text string) string { return v.over(text, mask.JSON) }

func (v *veil) text(text string) string { return v.over(text, mask.Text) }

func (v *veil) over(text string, with func(string) (string, int)) string {
	if v.off {
		return text
	}
	masked, n := with(text)
	v.masked += n
	return masked
}

// cells hides what is secret in a row of a table: what was written freely in any column
// that does not say that it holds something else.
func (v *veil) cells(columns []column, row []string) []string {
	out := make([]string, len(row))
	for i, c := range columns {
		switch c.holds {
		case freeText:
			out[i] = v.text(row[i])
		case payloads:
			out[i] = v.payload(row[i])
		case names:
			out[i] = row[i]
		}
	}
	return out
}

// veiled is a text through a veil of its own.
func veiled(text string) string { return (&veil{}).text(text) }
