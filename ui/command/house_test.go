package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/leasetop/leasetop"

// mayImport says, for each folder, which others of ours its code may import. They
// point one way: main → ui → queue/watch, workers → queue → sql.
var mayImport = map[string][]string{
	"sql":                           {},
	"sql/languages":                 {},
	"sql/connstring":                {},
	"sql/local":                     {"sql/connstring"},
	"sql/local/where":               {"sql/local"},
	"sql/local/testdb":              {"sql", "sql/local"},
	"queue":                         {"queue/filter", "sql", "sql/connstring"},
	"queue/filter":                  {},
	"queue/alert":                   {"queue/watch"},
	"queue/watch":                   {"queue", "queue/filter", "sql"},
	"workers":                       {"queue", "sql", "workers/internal/without"},
	"workers/demo":                  {"workers", "workers/faults", "queue", "sql"},
	"workers/child":                 {"workers", "queue"},
	"workers/scenario":              {"workers", "workers/faults", "workers/internal/without", "workers/overlap", "queue", "sql", "sql/local"},
	"workers/scenario/stories":      {"workers", "workers/faults", "workers/internal/without", "workers/scenario", "queue", "queue/filter", "sql", "sql/local"},
	"workers/scenario/scenariotest": {"workers/faults", "workers/scenario", "queue", "sql/local/testdb"},
	"workers/faults":                {"workers", "queue", "sql", "sql/local"},
	"workers/internal/without":      {},
	"workers/overlap":               {"workers", "queue"},
	"ui":                            {"ui/editor", "ui/guard", "ui/lanes", "ui/mask", "ui/planwords", "ui/safe", "ui/sift", "queue", "queue/alert", "queue/filter", "queue/watch", "workers", "workers/faults", "workers/scenario"},
	"ui/editor":                     {"ui/guard"},
	"ui/guard":                      {"ui/safe"},
	"ui/lanes":                      {"ui/safe"},
	"ui/mask":                       {},
	"ui/planwords":                  {"queue"},
	"ui/safe":                       {},
	"ui/sift":                       {"queue", "queue/filter", "queue/watch"},
	"ui/term":                       {},
	"ui/e2e":                        {},
	"ui/plain":                      {"ui/safe", "queue", "queue/alert", "queue/watch", "workers"},
	"ui/cli":                        {"ui/editor", "ui/mask", "ui/planwords", "ui/safe", "ui/sift", "queue", "queue/alert", "queue/filter", "queue/watch", "sql", "sql/local", "workers", "workers/child", "workers/scenario", "workers/scenario/stories"},
	"":                              {"ui/command"},
	"internal/testall":              {},
	"screenshots":                   {"screenshots/draw", "ui/term", "workers/scenario", "workers/scenario/stories"},
	"screenshots/draw":              {"ui/term"},
	"ui/command":                    {"ui", "ui/cli", "ui/plain", "ui/safe", "queue", "queue/alert", "queue/filter", "queue/watch", "workers", "workers/demo", "workers/faults", "workers/overlap", "workers/scenario", "workers/scenario/stories"},
}

// database are packages that only what lies below the screens may know.
var database = []string{"github.com/jackc/", "github.com/pressly/goose", "database/sql"}

func TestHouseImportsPointOneWay(t *testing.T) {
	t.Parallel()
	for path, file := range sources(t, parser.ImportsOnly) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if folder == "." {
			folder = ""
		}
		allowed, known := mayImport[folder]
		if !known {
			t.Errorf("%s is a new folder: say in mayImport what it may import", folder)
			continue
		}
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if ours, ok := strings.CutPrefix(name, module+"/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s: %q may import only %q", path, ours, folder, allowed)
			}
			screen := folder == "" || folder == "ui" || strings.HasPrefix(folder, "ui/")
			if screen && slices.ContainsFunc(database, func(p string) bool { return strings.HasPrefix(name, p) }) {
				t.Errorf("%s imports %s: screens and commands reach the database through package queue", path, name)
			}
		}
	}
}

// A protection that the program could take out would be none.
func TestHouseOnlyTestsTakeProtectionsOut(t *testing.T) {
	t.Parallel()
	const folder, allows = "workers/internal/without", "With"
	declared := false
	for path, file := range sources(t, parser.SkipObjectResolution) {
		if strings.HasPrefix(filepath.ToSlash(path), folder+"/") {
			declared = declared || slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
				f, ok := d.(*ast.FuncDecl)
				return ok && f.Name.Name == allows
			})
			continue
		}
		for _, spec := range file.Imports {
			if spec.Path.Value != strconv.Quote(module+"/"+folder) {
				continue
			}
			if spec.Name != nil {
				t.Errorf("%s imports %s by another name: this test would not see what it calls", path, folder)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == allows {
					if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "without" {
						t.Errorf("%s takes protections out: only tests may", path)
					}
				}
				return true
			})
		}
	}
	if !declared {
		t.Errorf("%s has no function %s: this test looks for nothing", folder, allows)
	}
}

var statement = regexp.MustCompile(`(?i)\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s.+\sSET|DELETE\s+FROM)\b`)

func TestHouseStatementsAreFiles(t *testing.T) {
	t.Parallel()
	for path, file := range sources(t, parser.SkipObjectResolution) {
		if name := filepath.ToSlash(path); strings.HasPrefix(name, "sql/local/testdb/") || strings.HasPrefix(name, "workers/scenario/scenariotest/") || name == "sql/rights.go" {
			continue // only tests use the first two; the other reads statements and runs none
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && statement.MatchString(text.Value) {
				t.Errorf("%s holds the statement %s: it belongs into a file of sql/queries", path, text.Value)
			}
			return true
		})
	}
}

// top is the project's folder, seen from here.
const top = "../.."

// sources parses all our Go files but the tests.
func sources(t *testing.T, mode parser.Mode) map[string]*ast.File {
	t.Helper()
	parsed, set := map[string]*ast.File{}, token.NewFileSet()
	err := fs.WalkDir(os.DirFS(top), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed[path], err = parser.ParseFile(set, filepath.Join(top, path), nil, mode)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(parsed) < 50 {
		t.Fatalf("found only %d source files", len(parsed))
	}
	return parsed
}

// connects are the files that may connect by themselves, and why. All else connects by
// queue.Connect, which prepares a connection as the pool does.
var connects = map[string]string{
	"queue/connect.go":                     "it is what prepares them",
	"queue/watch/wal.go":                   "a replication connection, which no hook of a pool is for",
	"sql/migrate.go":                       "it is handed the hook",
	"sql/local/":                           "the private server's own, before there is any pool",
	"workers/scenario/stories/failover.go": "of a server that the story itself starts",
}

func TestHouseConnectionsAreMadeAsThePoolMakesItsOwn(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(connects)
	for path, file := range sources(t, parser.SkipObjectResolution) {
		name := filepath.ToSlash(path)
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(s.Sel.Name, "Connect") {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); !ok || pkg.Name != "pgx" && pkg.Name != "pgconn" || !slices.Contains([]string{"Connect", "ConnectConfig", "ConnectWithOptions"}, s.Sel.Name) {
				return true
			}
			allowed := false
			for place := range connects {
				if strings.HasPrefix(name, place) {
					allowed = true
					delete(unused, place)
				}
			}
			if !allowed {
				t.Errorf("%s connects by %s: use queue.Connect, or the pool's hooks are left out", name, s.Sel.Name)
			}
			return true
		})
	}
	for place := range unused {
		t.Errorf("%s does not connect by itself: take it off the list", place)
	}
}
