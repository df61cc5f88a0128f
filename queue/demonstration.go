package queue

import (
	"context"
	"fmt"
	"strings"
)

// markOfDemonstrations is the setting that says that a database may be broken.
const markOfDemonstrations = "leasetop.demonstration"

// Demonstration tells whether this database may be broken on purpose, to show that a
// queue survives it: it is on this machine, reached over a socket or a loopback address,
// and marked, by the setting leasetop.demonstration being on. When it may not, why says
// what is missing, and the cure. leasetop's private server is marked as a whole.
//
// A mark that the connection brings along is none: whoever connects may set that.
//
// The server tells its own address. One that a pooler, a tunnel or a forwarded port leads
// to may take itself to be near when it is not, or far when it is near: hence the mark.
func (q *Queue) Demonstration(ctx context.Context) (ok bool, why string, err error) {
	var database, address string
	var near, marked bool
	if err := q.pool.QueryRow(ctx, q.schema.Query("demonstration"), markOfDemonstrations).Scan(&database, &address, &near, &marked); err != nil {
		return false, "", q.failed("look for the mark of demonstrations", err)
	}
	switch {
	case !near:
		return false, fmt.Sprintf("the server of database %s is at %s, which is not this machine: use one here, as the private server", database, address), nil
	case marked && q.marksItself():
		return false, fmt.Sprintf("the mark leasetop.demonstration comes with the connection, and must be the database's: leave it out of the connection string and PGOPTIONS, and run ALTER DATABASE %s SET leasetop.demonstration = on, as a superuser", database), nil
	case !marked:
		return false, fmt.Sprintf("database %s is not marked for demonstrations: run ALTER DATABASE %s SET %s = on, as a superuser, and connect again", database, database, markOfDemonstrations), nil
	}
	return true, "", nil
}

// marksItself tells whether the mark is among what the connection asks for.
func (q *Queue) marksItself() bool {
	for name, value := range q.ConnConfig().RuntimeParams {
		switch name = strings.ToLower(name); name {
		case markOfDemonstrations:
			return true
		case "options": // as in "-c name=value", in which any character may be escaped
			if strings.Contains(strings.ToLower(strings.ReplaceAll(value, `\`, "")), markOfDemonstrations) {
				return true
			}
		}
	}
	return false
}
