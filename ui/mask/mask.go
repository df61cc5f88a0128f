// Package mask hides secrets in payloads and errors from whoever looks over an
// operator's shoulder, in a recording, or in a terminal's scrollback.
//
// What is a secret is decided by its name, in one place: [Secret]. A value under such a
// name is replaced by [Mask], whatever it is and however long: a mask has one width. In
// free text, an error for one, names are looked for before "=" and ":", and what is a
// secret by its form (a password in a URL, what follows "Bearer", a JSON web token) is
// masked too; so is what follows an argument of a command (--password x, curl -u a:x,
// mysql -px), and the value of a filter whose path is a secret's name. It errs on the side
// of hiding, and hides what is none ("-u 1000:1000", "api-key 2 of 3"): what was hidden can
// be revealed. What has neither a name nor a form is not found.
//
// A mask is no access control. Who may read the table reads the payloads.
package mask

import (
	"strings"
	"unicode"
)

// Mask stands for a secret of any length and type.
const Mask = "••••••"

// words are names of secrets, or words of such names: session_id, X-Auth-Token, cardNumber.
var words = set("password passwords passwd passphrase passcode pwd pass pw secret secrets token tokens authorization auth " +
	"credential credentials cookie cookies session sessions card cards bearer jwt otp pin cvc cvv cvv2 iban ssn dsn apikey apikeys")

// joint are names of two words that are secrets together.
var joint = set("apikey privatekey secretkey accesskey signingkey encryptionkey masterkey sharedkey sshkey sessionkey licensekey accountnumber")

// inside are names of secrets wherever they stand in a name that is written as one word.
var inside = []string{"password", "passwd", "passphrase", "secret", "apikey", "privatekey", "accesskey", "credential", "authorization", "authtoken", "accesstoken", "refreshtoken", "idtoken", "csrftoken", "sessionid", "sessiontoken", "creditcard", "cardnumber"}

func set(names string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(names) {
		out[name] = true
	}
	return out
}

// nameMost is how much of a name is looked at.
const nameMost = 200

// Secret tells whether a value of this name is a secret: by the words of the name,
// however they are joined (api_key, apiKey, API-KEY, x.api.key).
func Secret(name string) bool {
	if len(name) > nameMost {
		name = name[:nameMost]
	}
	parts := split(name)
	for i, part := range parts {
		if words[part] || i > 0 && joint[parts[i-1]+part] {
			return true
		}
		for _, one := range inside {
			if strings.Contains(part, one) {
				return true
			}
		}
	}
	return false
}

// split takes a name apart into words in lower case: at what is neither letter nor
// digit, and where a capital follows a small letter.
func split(name string) (parts []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			parts = append(parts, word.String())
			word.Reset()
		}
	}
	letters := []rune(name)
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(letters[i-1]) || unicode.IsUpper(letters[i-1]) && i+1 < len(letters) && unicode.IsLower(letters[i+1])):
			end()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return parts
}
