package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
	leasesql "github.com/leasetop/leasetop/sql"
)

// ownStatements are what a play in somebody's schema does besides the queue's operations,
// which name the rights that they lack themselves.
var ownStatements = []string{
	"scenario_run", "scenario_beat", "scenario_runs", "scenario_effect", "scenario_ledger", "scenario_depth", "scenario_clean",
}

// mayPlay tells before anything is made which rights the role lacks here: without them a
// play would get stuck half-way, or not remove what it made. All are told at once.
func (s *Stage) mayPlay(ctx context.Context) error {
	schema := s.Q.Schema()
	rights, objects, privileges := map[string]leasesql.Right{}, []string{}, []string{}
	for _, file := range ownStatements {
		for _, right := range schema.Rights(file) {
			rights[right.Object] = right
			for _, privilege := range right.Privileges {
				objects, privileges = append(objects, right.Object), append(privileges, privilege)
			}
		}
	}
	rows, _ := s.Q.Pool().Query(ctx, schema.Query("scenario_lacks"), schema.Name(), objects, privileges)
	var grants []string
	var object, privilege, before string
	_, err := pgx.ForEachRow(rows, []any{&object, &privilege}, func() error {
		if now := object + " " + privilege; now != before { // several statements need it
			right := rights[object]
			right.Privileges = []string{privilege}
			grants, before = append(grants, right.Grant(roleOf(s.Q))), now
		}
		return nil
	})
	if err == nil && len(grants) > 0 {
		err = fmt.Errorf("%w on the scenarios' tables: run %s", queue.ErrForbidden, strings.Join(grants, "; "))
	}
	return err
}

// forbid names the right that a role lacks to make the scenarios' tables.
func forbid(err error, q *queue.Queue) error {
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) || pg.Code != "42501" { // insufficient_privilege
		return err
	}
	usage := q.Schema().GrantUsage(roleOf(q))
	return fmt.Errorf("%w: run %s, or have a role play once that may; after that nobody needs it", err, strings.Replace(usage, "USAGE", "USAGE, CREATE", 1))
}

// roleOf is whose rights count.
func roleOf(q *queue.Queue) string {
	config := q.ConnConfig()
	if role := config.RuntimeParams["role"]; role != "" {
		return role
	}
	return config.User
}
