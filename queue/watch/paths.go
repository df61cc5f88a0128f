package watch

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// paths judges what a role's sessions find before PostgreSQL's own. The statements here name
// every function with its schema, but an operator has none that could be read: pg_catalog
// comes first by itself, unless a path names it later.
func (j judge) paths() (list []Finding) {
	for _, p := range j.Health.Paths {
		before, _, _ := strings.Cut(p.Path, "pg_catalog")
		before = strings.TrimRight(strings.TrimSuffix(before, `"`), ", ")
		f := Finding{
			Grade: Caution, About: "search_path of " + p.Role,
			Figure: "pg_catalog after " + before,
			Why:    "who may create in " + before + " decides what PostgreSQL's operators do in this role's sessions",
		}
		in := ""
		if p.Database != "" {
			in = " IN DATABASE " + pgx.Identifier{p.Database}.Sanitize()
		}
		switch {
		case p.Role != "":
			f.Cure = "ALTER ROLE " + pgx.Identifier{p.Role}.Sanitize() + in
		case p.Database != "":
			f.About, f.Cure = "search_path of every role", "ALTER DATABASE "+pgx.Identifier{p.Database}.Sanitize()
		default:
			f.About, f.Cure = "search_path of every role", "ALTER SYSTEM"
		}
		f.Cure += " SET search_path without pg_catalog, which then comes first"
		list = append(list, f)
	}
	return list
}
