package mask

import (
	"regexp"
	"strings"
	"unicode"
)

// textMost is how much of a text is looked through; what comes after is left out.
const textMost = 1 << 20

// stems are parts of which every secret's name has one: a text without them is not looked
// through for names. Lists show an error in every line, many times a second.
var stems = []string{"pass", "pw", "secret", "token", "auth", "cred", "cookie", "session", "card", "bearer", "jwt", "otp", "pin", "cv", "iban", "ssn", "dsn", "key", "number"}

func hasAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// assigned is a name and what stands between it and its value: password=x, "token": "x",
// \"token\":\"x\", Authorization: Bearer x.
var assigned = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.-]*)(\\*["']?\s*(?::=|=>|[=:])\s*)((?i:bearer|basic|digest)\s+)?`)

// Text masks the secrets in free text, and says how many there were. After a ":" in
// prose only what looks like a secret is taken for one: "token: expired" stays.
func Text(text string) (masked string, secrets int) {
	masked, hidden := hide(text)
	return masked, len(hidden)
}

// hide masks the secrets in free text, and returns them.
func hide(text string) (masked string, hidden []string) {
	if len(text) > textMost {
		text = text[:textMost] + "…"
	}
	lower := strings.ToLower(text)
	masked = text
	if hasAny(lower, stems) {
		masked, hidden = named(text)
		var more []string
		masked, more = flagged(masked)
		hidden = append(hidden, more...)
	}
	masked, more := formed(masked, lower)
	return masked, append(hidden, more...)
}

// named masks what stands after the name of a secret.
func named(text string) (masked string, hidden []string) {
	var out strings.Builder
	rest := text
	for {
		at := assigned.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		name, between, scheme := rest[at[2]:at[3]], rest[at[4]:at[5]], at[6] >= 0
		if Secret(name) {
			open, n := value(rest[at[1]:])
			said := rest[at[1]+open:][:n]
			if n > 0 && said != Mask && (open > 0 || scheme || strings.ContainsAny(between, `="'`) || likely(name, said)) {
				out.WriteString(rest[:at[1]+open])
				out.WriteString(Mask)
				hidden = append(hidden, said)
				rest = rest[at[1]+open+n:]
				continue
			}
		}
		out.WriteString(rest[:at[3]]) // the value may be a name itself: "error: token=x"
		rest = rest[at[3]:]
	}
	out.WriteString(rest)
	return out.String(), hidden
}

// value measures the value that text begins with: the quote that opens it, and it up to
// that quote again; without one it ends where a word, or the part of a list, does.
func value(text string) (open, n int) {
	rest := strings.TrimLeft(text, `\`)
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		open = len(text) - len(rest) + 1
		quote := text[:open]
		if quote == `"` {
			if n = stringEnd(text); n > 1 && text[n-1] == '"' {
				return open, n - 2
			}
			return open, len(text) - open
		}
		if n = strings.Index(text[open:], quote); n < 0 {
			n = len(text) - open
		}
		return open, n
	}
	if n = strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,;&"'\)]}`, r) }); n < 0 {
		n = len(text)
	}
	return 0, n
}

// likely tells whether what stands after a name and a ":" in prose is a secret, and not
// the next word.
func likely(name, said string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "x-") || strings.Contains(said, "=") || strings.Contains(name, "passw") || strings.Contains(name, "pwd") || len(said) >= 20 || strings.ContainsAny(said, "0123456789")
}
