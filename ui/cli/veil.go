package cli

import "github.com/leasetop/leasetop/ui/mask"

// veil hides secrets from what is printed for people, unless it is off.
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
