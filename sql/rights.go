package sql

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Right is what a statement needs the role to have on one object of the schema.
type Right struct {
	Object     string   // its name without the schema's, as in "jobs"
	kind       string   // "", SEQUENCE or FUNCTION
	Privileges []string // as GRANT takes them, as in "SELECT"
	schema     string
}

// Grant is the statement that gives the right to a role.
func (r Right) Grant(role string) string {
	return fmt.Sprintf("GRANT %s ON %s%s.%s TO %s", strings.Join(r.Privileges, ", "), r.kind, r.schema, r.Object, Quoted(role))
}

var (
	touched   = regexp.MustCompile(`\b(INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN|USING) ` + DefaultSchema + `\.([a-z_]+)`)
	called    = regexp.MustCompile(`\b` + DefaultSchema + `\.([a-z_]+)\(`)
	numbered  = regexp.MustCompile(`nextval\(pg_catalog\.pg_get_serial_sequence\('` + DefaultSchema + `\.([a-z_]+)', '([a-z_]+)'\)\)`)
	readsBack = regexp.MustCompile(`\b(RETURNING|ON CONFLICT)\b`)
	locks     = regexp.MustCompile(`\nFOR (NO KEY )?UPDATE\b`) // of a SELECT that changes nothing
	itself    = regexp.MustCompile(`\)(,\n|\nUPDATE )`)        // where the statement of a WITH ends
)

// Rights are the rights that the statement of queries/<file>.sql needs besides USAGE
// on the schema. They are read off its text, so they cannot go out of date.
func (s *Schema) Rights(file string) []Right {
	text := statement(file)
	privileges := map[string]map[string]bool{}
	need := func(table, privilege string) {
		if privileges[table] == nil {
			privileges[table] = map[string]bool{}
		}
		privileges[table][privilege] = true
	}
	var rights []Right
	for _, at := range touched.FindAllStringSubmatchIndex(text, -1) {
		verb, _, _ := strings.Cut(text[at[2]:at[3]], " ")
		switch table := text[at[4]:at[5]]; verb {
		case "INSERT":
			need(table, verb)
			if readsBack.MatchString(itself.Split(text[at[1]:], 2)[0]) {
				need(table, "SELECT")
			}
			if strings.Contains(text, "DO UPDATE") {
				need(table, "UPDATE")
			}
		case "UPDATE":
			need(table, verb)
			need(table, "SELECT")
		case "DELETE":
			need(table, verb)
			need(table, "SELECT")
			if strings.Contains(text, "FOR UPDATE") && strings.Contains(text, "  FROM "+DefaultSchema+"."+table) {
				need(table, "UPDATE") // it is locked before it is deleted
			}
		default:
			need(table, "SELECT")
		}
	}
	if first := touched.FindStringSubmatch(text); first != nil && strings.HasPrefix(text, "SELECT ") && locks.MatchString(text) {
		need(first[2], "UPDATE")
	}
	for table, all := range privileges {
		r := Right{Object: table, schema: s.name}
		for _, p := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
			if all[p] {
				r.Privileges = append(r.Privileges, p)
			}
		}
		rights = append(rights, r)
	}
	if writes := privileges["jobs"]; writes["INSERT"] || writes["UPDATE"] && strings.Contains(text, "last_error = ") {
		// The generated column is computed anew.
		rights = append(rights, Right{"fingerprint", "FUNCTION ", []string{"EXECUTE"}, s.name})
	}
	for _, m := range called.FindAllStringSubmatch(text, -1) {
		rights = append(rights, Right{m[1], "FUNCTION ", []string{"EXECUTE"}, s.name})
	}
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		rights = append(rights, Right{m[1] + "_" + m[2] + "_seq", "SEQUENCE ", []string{"USAGE"}, s.name})
	}
	slices.SortFunc(rights, func(a, b Right) int { return cmp.Compare(a.kind+a.Object, b.kind+b.Object) })
	return slices.CompactFunc(rights, func(a, b Right) bool { return a.kind+a.Object == b.kind+b.Object })
}

// GrantUsage is the statement that lets a role into the schema.
func (s *Schema) GrantUsage(role string) string {
	return fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", s.name, Quoted(role))
}
