package mask

import (
	"regexp"
	"strings"
)

// form is what tells a secret without a name that is assigned to it: the first group of
// its pattern stays, the second is hidden.
type form struct {
	hints   []string // a text without any of them, in lower case, is not looked through
	pattern *regexp.Regexp
	named   bool // only where the first group has the name of a secret
}

var forms = []form{
	{hints: []string{"@"}, pattern: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"']*:)([0-9][^\s/"']*|[^\s/"'0-9][^\s"']*)@`)}, // a password in a URL; what begins as a port does ends as one
	{hints: []string{"bearer", "basic"}, pattern: regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/-]{12,}=*)`)},           // an Authorization header
	{hints: []string{"eyj"}, pattern: regexp.MustCompile(`(\b)(eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?)`)},             // a JSON web token
	{hints: []string{"k_live_", "k_test_", "gh", "akia"}, pattern: regexp.MustCompile(`(\b)((?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{6,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})`)},
	{hints: []string{"private key"}, pattern: regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)((?s:.*?))(?:-----END|$)`)},
	{hints: []string{"-u", "--user", "--proxy-user"}, pattern: regexp.MustCompile(`((?:^|[\s"'])(?:-u\s?|--(?:proxy-)?user[\s=])["']?[^\s:"']*:)([^\s"']+)`)}, // curl -u user:password
	{hints: []string{"mysql", "mariadb", "sshpass"}, pattern: regexp.MustCompile(`((?:mysql|mariadb|sshpass)[^\n|;&]*?\s-p["']?)([^\s"']+)`)},                 // mysql -ppassword
	{hints: []string{"payload."}, named: true, pattern: regexp.MustCompile(`((?i:payload)(?:\.(?:"[^"]*"|[^\s:".])+)+:)((?:"[^"]*"?|[^\s"])+)`)},              // a filter
}

// formed masks what is a secret by its form. lower is the text in lower case.
func formed(text, lower string) (masked string, hidden []string) {
	for _, one := range forms {
		if !hasAny(lower, one.hints) {
			continue
		}
		text = one.pattern.ReplaceAllStringFunc(text, func(found string) string {
			groups := one.pattern.FindStringSubmatch(found)
			if strings.HasPrefix(groups[2], Mask) && !one.named || one.named && (groups[2] == Mask || groups[2] == "*" || !Secret(groups[1])) {
				return found
			}
			hidden = append(hidden, groups[2])
			return groups[1] + Mask + found[len(groups[1])+len(groups[2]):]
		})
	}
	return text, hidden
}

// flag is a name before a blank: of an argument, in a command or in a list of its words,
// or one of several words, as of a header.
var flag = regexp.MustCompile(`(?:^|[\s"'(\[,])(--?[A-Za-z][A-Za-z0-9_.-]*|[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+)\\*["']?,?[ \t]+`)

// flagged masks what stands after the name of a secret and a blank: --password x; of a
// name that is no argument's only what looks like a secret.
func flagged(text string) (masked string, hidden []string) {
	var out strings.Builder
	for {
		at := flag.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		name := text[at[2]:at[3]]
		open, n := value(text[at[1]:])
		said := text[at[1]+open:][:n]
		argument := strings.HasPrefix(name, "-")
		if n > 0 && said != Mask && Secret(name) && (argument && !strings.HasPrefix(said, "-") || !argument && likely(name, said)) {
			out.WriteString(text[:at[1]+open])
			out.WriteString(Mask)
			hidden = append(hidden, said)
			text = text[at[1]+open+n:]
			continue
		}
		out.WriteString(text[:at[3]])
		text = text[at[3]:]
	}
	out.WriteString(text)
	return out.String(), hidden
}
