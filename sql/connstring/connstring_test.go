package connstring

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Each parameter has values that it cannot have. The error names the parameter, the value and
// what is allowed, however the connection string is written, and no password.
func TestValuesThatAParameterCannotHaveAreNamed(t *testing.T) {
	t.Parallel()
	for name, r := range rules {
		for _, value := range []string{"bogus", "-1", "99999999999999999999", strings.Repeat("x", 5000)} {
			for form, text := range map[string]string{
				"a URL":    "postgres://ann:geheim@127.0.0.1/app?" + name + "=" + url.QueryEscape(value),
				"pairs":    "host=127.0.0.1 password='ge heim' " + name + " = '" + value + "'",
				"a socket": "host=/tmp password=geheim " + name + "=" + value,
			} {
				err := Check(text)
				shown := value
				if len(shown) > longest {
					shown = shown[:longest] + "…"
				}
				if want := fmt.Sprintf("%s is %q: %s", name, shown, r.allowed); err == nil || err.Error() != want {
					t.Errorf("%s: %v\nwant %s", form, err, want)
				}
			}
		}
	}
}

func TestValuesThatAParameterCanHaveAreTaken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "postgres://", "postgres://ann:geheim@db/app?sslmode=verify-full&pool_max_conns=1&pool_max_conns=262143&connect_timeout=0&keepalives=0",
		"host=a,b target_session_attrs = prefer-standby sslmode='' options='-c a=\\'b\\''", "statement_cache_capacity=0 default_query_exec_mode=exec",
		"postgres://a:ge?sslmode=heim@b/x", "password=a b sslmode", "pool_max_conn_lifetime=1h30m pool_health_check_period=1s", "sslmode='bogus",
	} {
		if err := Check(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A variable of the environment is named as itself, unless the connection string says it.
func TestVariablesOfTheEnvironmentAreNamed(t *testing.T) {
	t.Setenv("PGSSLMODE", "bogus")
	const want = `PGSSLMODE is "bogus": use disable, allow, prefer, require, verify-ca or verify-full`
	if err := Check("postgres://"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := Check("sslmode=require"); err != nil {
		t.Error(err)
	}
	for name, parameter := range variable {
		if rules[parameter].takes == nil {
			t.Errorf("%s stands for %s, which has no rule", name, parameter)
		}
	}
}
