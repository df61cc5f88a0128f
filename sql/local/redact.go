package local

import (
	"net/url"
	"strings"
)

// hidden stands for a part of a connection string that may hold a password.
const hidden = "REDACTED"

// Redact returns the connection string without passwords, for people to read
// and, if it was a valid one, for programs to use with PGPASSWORD or a password
// file. It takes URLs and key=value strings. Where it cannot tell for sure what
// is password and what is not, as in a URL whose password holds an unescaped
// slash, it hides everything.
func Redact(text string) string {
	text = strings.TrimSpace(text)
	if isURL(text) {
		return redactURL(text)
	}
	if strings.Contains(text, "://") {
		return hidden
	}
	return redactPairs(text)
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// redactURL follows libpq's grammar: the user and password end at the first @,
// if that comes before the first slash. Another @ further on can only be data
// or the sign that the password was not escaped.
func redactURL(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	user := ""
	if at := strings.IndexAny(rest, "@/?"); at >= 0 && rest[at] == '@' {
		user, _, _ = strings.Cut(rest[:at], ":")
		user, rest = user+"@", rest[at+1:]
	}
	if strings.ContainsAny(rest, "@#") {
		return scheme + "://" + hidden
	}
	address, query, _ := strings.Cut(rest, "?")
	if !plausible(address) {
		return scheme + "://" + hidden
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, _, isPair := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(key)
		if pair != "" && (!isPair || err != nil) {
			return scheme + "://" + hidden
		}
		if pair != "" && !secret(plain) {
			kept = append(kept, pair)
		}
	}
	text = scheme + "://" + user + address
	if len(kept) > 0 {
		text += "?" + strings.Join(kept, "&")
	}
	return text
}

// plausible reports whether each host's port is a number. One that is not may be
// the password of a URL whose host was forgotten: postgres://user:secret.
func plausible(address string) bool {
	hosts, _, _ := strings.Cut(address, "/")
	for host := range strings.SplitSeq(hosts, ",") {
		if bracket := strings.LastIndexByte(host, ']'); bracket >= 0 {
			host = host[bracket+1:]
		}
		if _, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	return true
}

// secret reports whether the parameter of that name holds a password.
func secret(key string) bool {
	return strings.Contains(strings.ToLower(strings.TrimSpace(key)), "password")
}

// redactPairs follows libpq's grammar for key=value strings: blanks around the
// equals sign, values in single quotes, backslash before anything.
func redactPairs(text string) string {
	const blanks = " \t\r\n\v\f"
	var kept []string
	for rest := strings.Trim(text, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		whole := rest
		key, after, isPair := strings.Cut(rest, "=")
		key = strings.Trim(key, blanks)
		if !isPair || key == "" || strings.ContainsAny(key, blanks+`'\@:/`) {
			return hidden
		}
		rest = strings.TrimLeft(after, blanks)
		length, closed := valueLength(rest)
		if !closed {
			return hidden
		}
		rest = rest[length:]
		if !secret(key) {
			kept = append(kept, whole[:len(whole)-len(rest)])
		}
	}
	return strings.Join(kept, " ")
}

// valueLength returns how many bytes the value at the beginning of text takes,
// and whether its quotes and backslashes are complete.
func valueLength(text string) (n int, closed bool) {
	quoted := strings.HasPrefix(text, "'")
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 == len(text):
			return i, false
		case c == '\\':
			i++
		case quoted && i > 0 && c == '\'':
			return i + 1, true
		case !quoted && strings.IndexByte(" \t\r\n\v\f", c) >= 0:
			return i, true
		}
	}
	return len(text), !quoted
}
