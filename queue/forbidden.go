package queue

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"
)

// forbidden is what the role may not do, and how it could.
type forbidden struct {
	message, cure string
	cause         error
}

func (e *forbidden) Error() string        { return e.message + ": " + e.cure }
func (e *forbidden) Is(target error) bool { return target == ErrForbidden }
func (e *forbidden) Unwrap() error        { return e.cause }

// forbid names the GRANT that a statement lacked, as far as the server's message
// tells: it names the object, in whatever language, and never the privilege.
func (q *Queue) forbid(err error, statement string) error {
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) || pg.Code != "42501" || errors.Is(err, ErrForbidden) { // insufficient_privilege
		return err
	}
	e := &forbidden{message: pg.Message, cause: err}
	for _, right := range q.schema.Rights(statement) {
		if names(pg.Message, right.Object) {
			e.cure = "run " + right.Grant(q.role())
		}
	}
	switch {
	case pg.Routine == "ExecWithCheckOptions": // its own name in PostgreSQL, not translated
		e.cure = fmt.Sprintf("row-level security is on, so a policy of the table must let role %s do it", q.role())
	case e.cure == "" && names(pg.Message, q.schema.Name()):
		e.cure = "run " + q.schema.GrantUsage(q.role())
	case e.cure == "":
		e.cure = "the role " + q.role() + " lacks that right"
	}
	return e
}

// names tells whether a message of the server, in whatever language, has this name in it.
func names(message, object string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(object) + `\b`).MatchString(message)
}

// role is whose rights count.
func (q *Queue) role() string {
	config := q.ConnConfig()
	if role := config.RuntimeParams["role"]; role != "" {
		return role
	}
	return config.User
}
