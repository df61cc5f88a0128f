package watch

import (
	"fmt"
	"slices"
	"strings"
)

// parts are those of a kind that are as they should be, and those that are not.
func (j judge) parts(kind string) (fine int, other []Part) {
	for _, p := range j.Health.Parts {
		switch {
		case p.Kind != kind:
		case p.State == PartFine:
			fine++
		default:
			other = append(other, p)
		}
	}
	return fine, other
}

// indexes judges each index that is not as it should be, or all together.
func (j judge) indexes() (list []Finding) {
	fine, other := j.parts("index")
	for _, p := range other {
		name := j.Server.Schema + "." + identifier(p.Name)
		f := Finding{
			Grade: Danger, About: "index " + p.Name, Figure: string(p.State),
			Why: "without it " + p.Without,
		}
		switch p.State {
		case PartMissing:
			f.Cure = j.create(p)
		case PartInvalid:
			f.Cure = "REINDEX INDEX CONCURRENTLY " + name
		case PartChanged:
			f.Cure = "DROP INDEX CONCURRENTLY " + name + ", then " + j.create(p)
		case PartBuilding:
			f.Grade, f.Cure = Caution, "wait until it is built"
		case PartSpare:
			f.Grade, f.Figure, f.Why = Caution, "invalid", "left by a CREATE or REINDEX that failed: every write goes on paying for it"
			f.Cure = "unless somebody builds it now: DROP INDEX CONCURRENTLY " + name
		}
		list = append(list, f)
	}
	if len(list) == 0 && fine > 0 {
		list = append(list, Finding{About: "indexes", Figure: fmt.Sprintf("all %d valid", fine)})
	}
	return list
}

// create is the statement that makes an index.
func (j judge) create(p Part) string {
	switch p.Name {
	case "jobs_pkey":
		return "ALTER TABLE " + j.table("jobs") + " ADD PRIMARY KEY " + p.Made
	case "jobs_idempotency":
		return "CREATE UNIQUE INDEX CONCURRENTLY " + p.Name + " ON " + j.table("jobs") + " " + p.Made
	}
	return "CREATE INDEX CONCURRENTLY " + p.Name + " ON " + j.table("jobs") + " " + p.Made
}

// triggers judges the triggers that are off or missing: together those whose want has
// the same consequence.
func (j judge) triggers() (list []Finding) {
	fine, other := j.parts("trigger")
	for len(other) > 0 {
		first := other[0]
		alike := func(p Part) bool {
			return p.Table == first.Table && p.State == first.State && p.Without == first.Without
		}
		var names, enable []string
		for _, p := range other {
			if alike(p) {
				names, enable = append(names, p.Name), append(enable, "ENABLE TRIGGER "+p.Name)
			}
		}
		other = slices.DeleteFunc(other, alike)
		f := Finding{
			Grade: Caution, About: "trigger " + first.Name, Figure: string(first.State), Why: first.Without,
			Cure: "ALTER TABLE " + j.table(first.Table) + " " + strings.Join(enable, ", "),
		}
		if len(names) > 1 {
			f.About = manyOf(len(names), "trigger") + " of " + first.Table
		}
		if first.State == PartMissing {
			f.Cure = "make again, as sql/migrations does, " + strings.Join(names, ", ")
		}
		list = append(list, f)
	}
	if len(list) == 0 && fine > 0 {
		list = append(list, Finding{About: "triggers", Figure: fmt.Sprintf("all %d on", fine)})
	}
	return list
}

// publication judges what the stream subscribes to.
func (j judge) publication() []Finding {
	fine, other := j.parts("publication")
	switch {
	case len(other) > 0:
	case fine == 0:
		return nil
	default:
		return []Finding{{About: "publication", Figure: "complete"}}
	}
	f := Finding{Grade: Caution, About: "publication " + other[0].Name}
	if missing := func(p Part) bool { return p.State != PartMissing }; fine == 0 && !slices.ContainsFunc(other, missing) {
		var tables []string
		for _, p := range other {
			tables = append(tables, j.table(p.Table)+" "+p.Made)
		}
		f.Figure, f.Why = "missing", "without it there is no stream: counts are polled"
		f.Cure = "as owner of the tables and with CREATE on the database: CREATE PUBLICATION " + other[0].Name + " FOR TABLE " + strings.Join(tables, ", ")
		return []Finding{f}
	}
	var lacks, without, statements []string
	for _, p := range other {
		alter := "ALTER PUBLICATION " + p.Name
		switch p.State {
		case PartMissing:
			lacks = append(lacks, "the table "+p.Table)
			statements = append(statements, alter+" ADD TABLE "+j.table(p.Table)+" "+p.Made)
		case PartChanged:
			lacks = append(lacks, p.Lacks+" of "+p.Table)
			statements = append(statements, alter+" DROP TABLE "+j.table(p.Table), alter+" ADD TABLE "+j.table(p.Table)+" "+p.Made)
		default:
			lacks = append(lacks, "some changes of "+p.Table)
			statements = append(statements, alter+" SET (publish = 'insert, update, delete, truncate')", alter+" DROP TABLE "+j.table(p.Table), alter+" ADD TABLE "+j.table(p.Table)+" "+p.Made)
		}
		without = append(without, p.Without)
	}
	f.Figure = "lacks " + strings.Join(lacks, ", ")
	f.Why = strings.Join(without, "; ")
	f.Cure = "leasetop migrate up; if that changes nothing, as its owner " + strings.Join(statements, "; ")
	return []Finding{f}
}
