package command

import "strings"

// names is a flag that lists names, with a comma between them, and may be repeated.
// A name is whatever text: only a comma in it is written \, and nothing else is quoted.
type names []string

func (n *names) Type() string { return "names" }

// String is empty until something is named: there is no usual list.
func (n *names) String() string {
	written := make([]string, len(*n))
	for i, name := range *n {
		written[i] = strings.ReplaceAll(name, ",", `\,`)
	}
	return strings.Join(written, ",")
}

func (n *names) Set(text string) error {
	begun := ""
	for _, part := range strings.Split(text, ",") {
		if before, comma := strings.CutSuffix(part, `\`); comma {
			begun += before + ","
			continue
		}
		*n = append(*n, begun+part)
		begun = ""
	}
	if last, comma := strings.CutSuffix(begun, ","); comma { // the last \ had no comma after it
		*n = append(*n, last+`\`)
	}
	return nil
}
