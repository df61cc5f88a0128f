package connstring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is what values a parameter may have.
type rule struct {
	takes   func(value string) bool
	allowed string
}

// mostConns is the most that PostgreSQL's max_connections can be.
const mostConns = 262143

const mostWhole = 1<<31 - 1

// mostCached is the most that the driver may keep: it takes memory for all of them at once.
const mostCached = 65536

// rules are those of libpq's parameters and of the driver's own. An empty value leaves libpq's
// to their defaults.
var rules = map[string]rule{
	"sslmode":              words("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
	"sslnegotiation":       words("postgres", "direct"),
	"sslcertmode":          words("disable", "allow", "require"),
	"sslsni":               words("0", "1"),
	"sslcompression":       words("0", "1"),
	"channel_binding":      words("disable", "prefer", "require"),
	"gssencmode":           words("disable", "prefer", "require"),
	"gssdelegation":        words("0", "1"),
	"target_session_attrs": {within("any", "read-write", "read-only", "primary", "standby", "prefer-standby"), use("any", "read-write", "read-only", "primary", "standby", "prefer-standby")},
	"load_balance_hosts":   words("disable", "random"),
	"min_protocol_version": words("3.0", "3.2", "latest"),
	"max_protocol_version": words("3.0", "3.2", "latest"),

	"connect_timeout":     whole(0, mostWhole, " of seconds; 0 waits for ever"),
	"keepalives":          whole(0, mostWhole, "; 0 switches them off"),
	"keepalives_idle":     whole(0, mostWhole, " of seconds"),
	"keepalives_interval": whole(0, mostWhole, " of seconds"),
	"keepalives_count":    whole(0, mostWhole, ""),
	"tcp_user_timeout":    whole(0, mostWhole, " of milliseconds"),

	"default_query_exec_mode":    {within("cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"), use("cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol")},
	"statement_cache_capacity":   whole(0, mostCached, "; 0 keeps no statements"),
	"description_cache_capacity": whole(0, mostCached, "; 0 keeps no descriptions"),

	"pool_max_conns":                whole(1, mostConns, ""),
	"pool_min_conns":                whole(0, mostConns, ""),
	"pool_min_idle_conns":           whole(0, mostConns, ""),
	"pool_max_conn_lifetime":        duration(0, "a duration like 30m or 1h"),
	"pool_max_conn_lifetime_jitter": duration(0, "a duration like 5m"),
	"pool_max_conn_idle_time":       duration(0, "a duration like 30m"),
	"pool_health_check_period":      duration(1, "a duration of more than 0, like 1m"),
	"pool_ping_timeout":             duration(0, "a duration like 5s"),
}

// variable is the parameter that a variable of the environment stands for.
var variable = map[string]string{
	"PGSSLMODE": "sslmode", "PGSSLNEGOTIATION": "sslnegotiation", "PGSSLCERTMODE": "sslcertmode", "PGSSLSNI": "sslsni",
	"PGSSLCOMPRESSION": "sslcompression", "PGCHANNELBINDING": "channel_binding", "PGGSSENCMODE": "gssencmode",
	"PGGSSDELEGATION": "gssdelegation", "PGTARGETSESSIONATTRS": "target_session_attrs", "PGLOADBALANCEHOSTS": "load_balance_hosts",
	"PGMINPROTOCOLVERSION": "min_protocol_version", "PGMAXPROTOCOLVERSION": "max_protocol_version", "PGCONNECT_TIMEOUT": "connect_timeout",
}

func within(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

func use(values ...string) string {
	last := len(values) - 1
	return "use " + strings.Join(values[:last], ", ") + " or " + values[last]
}

func words(values ...string) rule {
	return rule{within(append([]string{""}, values...)...), use(values...)}
}

// whole takes numbers; of says what they count and, after a semicolon, what one means.
func whole(least, most int64, of string) rule {
	of, meaning, found := strings.Cut(of, ";")
	if found {
		meaning = ";" + meaning
	}
	return rule{
		func(value string) bool {
			n, err := strconv.ParseInt(value, 10, 64)
			return err == nil && n >= least && n <= most
		},
		fmt.Sprintf("use a whole number%s from %d to %d%s", of, least, most, meaning),
	}
}

func duration(least time.Duration, like string) rule {
	return rule{
		func(value string) bool {
			d, err := time.ParseDuration(value)
			return err == nil && d >= least
		},
		"use " + like,
	}
}
