package mask

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSecretNames(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`password PASSWORD userPassword db_passwd smtp-pwd secret client_secret clientSecret token
		access_token accessToken X-Auth-Token xAuthToken accesstoken api_key apiKey API-KEY apikey x-api-key APIKey stripe.api.key
		authorization Authorization auth credentials credential private_key privateKey PRIVATEKEY cookie Set-Cookie session
		sessionId session_id card card_number cardNumber creditcard cvv iban IBAN jwt otp aws_secret_access_key accessKeyId`) {
		if !Secret(name) {
			t.Errorf("%s is not taken for a secret", name)
		}
	}
	for _, name := range strings.Fields(`to id order total key keys name discard wildcard postcard cardinality author authored
		authority tokenize passenger compass obsession monkey keyboard expiration pinned email address sku`) {
		if Secret(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

func TestSecretsInPayloadsAreMaskedAndNothingElseIsTouched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, want string
		secrets  int
	}{
		{`{"a": 1970670598291982290, "b": [1e400, -0], "c": "x"}`, `{"a": 1970670598291982290, "b": [1e400, -0], "c": "x"}`, 0},
		{`{"to": "a@b", "password": "hunter2"}`, `{"to": "a@b", "password": ••••••}`, 1},
		{`{"deep": {"er": [{"api_key": "k"}, {"api_key": "kkkkkkkkkkkkk"}]}}`, `{"deep": {"er": [{"api_key": ••••••}, {"api_key": ••••••}]}}`, 2},
		{`{"card": {"number": "4111 1111", "cvv": 123, "x": ["}", "\"}"]}, "to": 1}`, `{"card": ••••••, "to": 1}`, 1},
		{`{"session": [1, [2, 3]], "to": "x"}`, `{"session": ••••••, "to": "x"}`, 1},
		{`{"token": null, "password": "", "session": true, "pin": 1234}`, `{"token": null, "password": "", "session": true, "pin": ••••••}`, 1},
		{`{"pass\u0077ord": "x"}`, `{"pass\u0077ord": ••••••}`, 1},
		{`{"name": "DB_PASSWORD", "value": "x"}`, `{"name": "DB_PASSWORD", "value": ••••••}`, 1},
		{`{"name": "Ann", "value": "x"}`, `{"name": "Ann", "value": "x"}`, 0},
		{`["password", "x"]`, `["password", "x"]`, 0},
		{`{"url": "postgres://app:p#s/s:w%zz@h/db"}`, `{"url": "postgres://app:••••••@h/db"}`, 1},
		{`{"body": "{\"password\": \"my pass\", \"to\": \"ann\"}"}`, `{"body": "{\"password\": \"••••••\", \"to\": \"ann\"}"}`, 1},
		{`{"header": "Authorization: Bearer abc"}`, `{"header": "Authorization: Bearer ••••••"}`, 1},
		{`{"args": ["--user", "ann", "--password", "x", "y"], "b": 1}`, `{"args": ["--user", "ann", "--password", ••••••, "y"], "b": 1}`, 1},
		{`["--password", "--quiet", "x"]`, `["--password", "--quiet", "x"]`, 0},
		{`{"cmd": "mysql -u app -phunter --password abc"}`, `{"cmd": "mysql -u app -p•••••• --password ••••••"}`, 2},
		{`{"redis://:s3cret@cache": 1, "eyJhbGciOiJI.eyJzdWIiOiIx.sig": {"a": 2}}`, `{"redis://:••••••@cache": 1, "••••••": {"a": 2}}`, 2},
		{`{"password": "cut in the mid`, `{"password": ••••••`, 1},
		{`{"secret": {"a": [1, 2`, `{"secret": ••••••`, 1},
		{`not json, password=abc`, `not json, password=abc`, 0},
		{`"a string: password=abc"`, `"a string: password=••••••"`, 1},
		{`{"a": {"token": "x"}, "token": "y"}]}{`, `{"a": {"token": ••••••}, "token": ••••••}]}{`, 2},
	} {
		got, secrets := JSON(c.in)
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
		if secrets != c.secrets {
			t.Errorf("%s: %d secrets, want %d", c.in, secrets, c.secrets)
		}
	}
}

func TestSecretsThatChangedAreFoundThoughTheirMasksAreEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, is, want string }{
		{`{"password": "a", "x": 1}`, `{"password": "a", "x": 2}`, ""},
		{`{"password": "a", "deep": [{"to": "x"}, {"api_key": 1}]}`, `{"deep": [ {"to": "y"}, {"api_key": 2} ], "password": "b"}`, "deep.1.api_key password"},
		{`{"auth": {"a": 1, "b": [2]}}`, "{\"auth\": {\n\"a\":1, \"b\": [2]}}", ""},
		{`{"auth": {"a": 1, "b": [2]}}`, `{"auth": {"a": 1, "b": [3]}}`, "auth"},
		{`{"url": "postgres://a:x@h/db", "args": ["--token", "x"]}`, `{"url": "postgres://a:y@h/db", "args": ["--token", "y"]}`, "url args.1"},
		{`{"url": "postgres://a:x@h/db"}`, `{"url": "postgres://b:x@h/db"}`, ""},
		{`{"token": "x"}`, `{"other": {"token": "y"}}`, ""}, // the lines tell of it
		{`{"redis://:hunter2@h": {"token": 1}}`, `{"redis://:hunter2@h": {"token": 2}}`, "redis://:••••••@h.token"},
		{`"password=a"`, `"password=b"`, "the payload"},
		{`[["--password", "a"], {}]`, `[["--password", "b"], {}]`, "0.1"},
		{`{"a": {"token": 1}, "token": 2}`, `{"a": {"token": 1}, "token": 3}`, "token"},
	} {
		if got := strings.Join(Changed(c.was, c.is), " "); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.was, c.is, got, c.want)
		}
	}
}

func TestSecretsInErrorsAreMasked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`login failed: password=hunter2 user=ann`:                    `login failed: password=•••••• user=ann`,
		`GET https://x/v1?api_key=abc&q=1: 401`:                      `GET https://x/v1?api_key=••••••&q=1: 401`,
		`dial postgres://app:s3cret@db:5432/shop: refused`:           `dial postgres://app:••••••@db:5432/shop: refused`,
		`redis://:s3cret@cache:6379`:                                 `redis://:••••••@cache:6379`,
		`bad response {"access_token":"abc def","code":7}`:           `bad response {"access_token":"••••••","code":7}`,
		`sent {\"token\":\"abc\"}`:                                   `sent {\"token\":\"••••••\"}`,
		`header "Authorization: Bearer abc" refused`:                 `header "Authorization: Bearer ••••••" refused`,
		`sent Bearer abcdefghijkl123 to it`:                          `sent Bearer •••••• to it`,
		`jwt eyJhbGciOiJI.eyJzdWIiOiIx.sig-x expired`:                `jwt •••••• expired`,
		`password: hunter2`:                                          `password: ••••••`,
		`token: expired`:                                             `token: expired`,
		`charge card: declined`:                                      `charge card: declined`,
		`session: not found`:                                         `session: not found`,
		`token: a8f7c2 refused`:                                      `token: •••••• refused`,
		`error: secret=x`:                                            `error: secret=••••••`,
		`password='it''s mine'; next`:                                `password='••••••''s mine'; next`,
		`SMTP 421 rate limited by mx1.example.com, try again later`:  `SMTP 421 rate limited by mx1.example.com, try again later`,
		`pull https://registry:5000/shop@sha256:77`:                  `pull https://registry:5000/shop@sha256:77`,
		`Post "https://hooks.example.com:443/v2": dial 10.1.4.7:443`: `Post "https://hooks.example.com:443/v2": dial 10.1.4.7:443`,
		`run tool --password hunter --quiet`:                         `run tool --password •••••• --quiet`,
		`run tool -v --password=hunter --api-key 'k k' x`:            `run tool -v --password=•••••• --api-key '••••••' x`,
		`exec ["tool", "--password", "hunter", "x"]`:                 `exec ["tool", "--password", "••••••", "x"]`,
		`tool --password --quiet`:                                    `tool --password --quiet`,
		`curl -u ann:hunter https://x/`:                              `curl -u ann:•••••• https://x/`,
		`curl --user 'ann:hunter' https://x/`:                        `curl --user 'ann:••••••' https://x/`,
		`curl -uann:hunter -x y`:                                     `curl -uann:•••••• -x y`,
		`sh -c "mysql -h db -u app -phunter shop"`:                   `sh -c "mysql -h db -u app -p•••••• shop"`,
		`mysqldump -phunter --port 3306 -P 3306`:                     `mysqldump -p•••••• --port 3306 -P 3306`,
		`mysql --port 3306 -P 3306 -p`:                               `mysql --port 3306 -P 3306 -p`,
		`sent api-key a8f7c2 to it`:                                  `sent api-key •••••• to it`,
		`sent X-Api-Key: abcdef`:                                     `sent X-Api-Key: ••••••`,
		`X-Api-Key a8f7c2`:                                           `X-Api-Key ••••••`,
		`Cookie: sid=abc; lang=en`:                                   `Cookie: ••••••; lang=en`,
		`the api-key is wrong, the access_token has expired`:         `the api-key is wrong, the access_token has expired`,
		`payload.password:hunter payload.to:ann`:                     `payload.password:•••••• payload.to:ann`,
		`!payload.auth.api_key:"a b",c,"d" queue:x`:                  `!payload.auth.api_key:•••••• queue:x`,
		`Payload."card number":4111,>5 error:x`:                      `Payload."card number":•••••• error:x`,
		`payload.token:* payload.user:ann`:                           `payload.token:* payload.user:ann`,
		`payload:"postgres://a:hunter@db"`:                           `payload:"postgres://a:••••••@db"`,
		"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA":         "-----BEGIN RSA PRIVATE KEY-----••••••-----END RSA",
		``: ``,
	} {
		if got, _ := Text(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// A mask has one width: it says nothing of how long the secret is.
func TestMaskHasOneWidth(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"x", strings.Repeat("long", 1000), `with \" and } in it`} {
		quoted, _ := json.Marshal(secret)
		if got, _ := JSON(`{"token": ` + string(quoted) + `}`); got != `{"token": `+Mask+`}` {
			t.Errorf("%.20s is masked as %.60s", secret, got)
		}
		if got, _ := Text("token=" + string(quoted)); got != `token="`+Mask+`"` {
			t.Errorf("%.20s is masked as %.60s", secret, got)
		}
	}
}

func TestDeepAndBrokenTextsAreMaskedInTime(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat(`[`, 20_000), strings.Repeat(`{"a":`, 8_000), strings.Repeat(`]`, 20_000),
		strings.Repeat(`token=`, 8_000), strings.Repeat(`password="`, 5_000), strings.Repeat(`a:b@`, 8_000), strings.Repeat("\\", 20_000), strings.Repeat("-----BEGIN PRIVATE KEY-----", 1_000),
	} {
		JSON(text)
		JSON(`{"a": "` + text)
		Text(text)
	}
}

func FuzzMaskKeepsWhatIsNoSecret(f *testing.F) {
	f.Add(`{"a": [1, {"b": "c"}], "token": "x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if got, secrets := JSON(text); secrets == 0 && got != text && len(text) < textMost {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// Every name of a secret has a stem: else texts with it would not be looked through.
func TestEveryNameHasAStem(t *testing.T) {
	t.Parallel()
	for _, names := range []map[string]bool{words, joint} {
		for name := range names {
			if !hasAny(name, stems) {
				t.Errorf("%s has none", name)
			}
		}
	}
	for _, name := range inside {
		if !hasAny(name, stems) {
			t.Errorf("%s has none", name)
		}
	}
}

func BenchmarkText(b *testing.B) {
	for b.Loop() {
		Text(`Post "https://hooks.example.com/v2/orders": dial tcp 10.1.4.7:443: connect: connection refused`)
	}
}
