package command

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// library are the packages that others import.
var library = []string{"queue", "queue/filter", "queue/watch", "workers", "workers/child", "sql"}

// shownElsewhere are exported names of the library that no example need name, and why.
var shownElsewhere = map[string]string{
	"queue.Refusal.Unwrap":        "package errors calls it",
	"queue.Time.ScanTimestamptz":  "pgx calls it",
	"queue.Time.TimestamptzValue": "pgx calls it",
}

func TestHouseExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, folder := range library {
		files := folderOf(t, folder, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
		if !slices.ContainsFunc(files, func(f *ast.File) bool { return f.Doc != nil }) {
			t.Errorf("package %s has no comment", folder)
		}
		for _, n := range exported(files) {
			switch {
			case n.doc == "":
				t.Errorf("%s.%s has no comment", folder, n.name)
			case n.begins != "" && !strings.HasPrefix(n.doc, n.begins+" "):
				t.Errorf("the comment of %s.%s does not begin with %s: %q", folder, n.name, n.begins, n.doc)
			}
		}
	}
}

func TestHouseExamplesShowTheWholeLibrary(t *testing.T) {
	t.Parallel()
	exempt := maps.Clone(shownElsewhere)
	for _, folder := range library {
		name := path.Base(folder)
		seen := sight{pkg: name, of: map[string]bool{}, selected: map[string]bool{}}
		examples := doc.Examples(folderOf(t, folder, func(file string) bool {
			return strings.HasPrefix(file, "example") && strings.HasSuffix(file, "_test.go")
		})...)
		for _, example := range examples {
			if example.Output == "" {
				t.Errorf("Example%s of %s says nothing that is checked", example.Name, folder)
				continue
			}
			ast.Walk(&seen, example.Code)
		}
		api := exported(folderOf(t, folder, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }))
		for _, n := range api {
			full := name + "." + n.name
			switch shown, reason := seen.shows(n, api), exempt[full]; {
			case n.kind == variable || shown && reason == "":
			case shown:
				t.Errorf("%s is in an example: it needs no exemption", full)
			case reason == "":
				t.Errorf("%s is in no example of %s/example*_test.go whose output is checked", full, folder)
			}
			delete(exempt, full)
		}
	}
	for name := range exempt {
		t.Errorf("%s is exempt from examples and does not exist", name)
	}
}

// folderOf parses the files of one folder whose names fit.
func folderOf(t *testing.T, folder string, fits func(string) bool) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(top, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for set := token.NewFileSet(); len(names) > 0; names = names[1:] {
		if !fits(filepath.Base(names[0])) {
			continue
		}
		file, err := parser.ParseFile(set, names[0], nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		t.Fatalf("no files in %s", folder)
	}
	return files
}

// kind of an exported name.
type kind int

const (
	variable kind = iota // or constant
	function
	method
	typ
)

// name is an exported name with its comment.
type name struct {
	kind   kind
	name   string          // a method's with its type: Queue.Claim
	doc    string          // "" without
	begins string          // what the comment is to begin with; "" for any
	about  map[string]bool // the types of a signature
	fields map[string]bool // the names of fields, of any struct, that are of this type
}

// exported lists the exported names of a package.
func exported(files []*ast.File) (names []name) {
	fields := map[string]map[string]bool{} // type → names of fields of it
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				names = append(names, functionOf(d)...)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					names = append(names, namesOf(d, spec)...)
					noteFields(spec, fields)
				}
			}
		}
	}
	for i := range names {
		names[i].fields = fields[names[i].name]
	}
	return names
}

func functionOf(d *ast.FuncDecl) []name {
	n := name{kind: function, name: d.Name.Name, doc: d.Doc.Text(), begins: d.Name.Name, about: types(d.Type)}
	if d.Recv != nil {
		receiver := slices.Collect(maps.Keys(types(d.Recv.List[0].Type)))
		if len(receiver) != 1 {
			return nil // a method of a type that is not exported
		}
		n.kind, n.name = method, receiver[0]+"."+n.name
	}
	if !d.Name.IsExported() {
		return nil
	}
	return []name{n}
}

// namesOf are the names of a type, or of constants and variables: those may share the
// comment of their group, or have theirs behind them.
func namesOf(d *ast.GenDecl, spec ast.Spec) (names []name) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			names = append(names, name{kind: typ, name: s.Name.Name, doc: s.Doc.Text() + d.Doc.Text(), begins: s.Name.Name})
		}
	case *ast.ValueSpec:
		for _, id := range s.Names {
			if id.IsExported() {
				names = append(names, name{name: id.Name, doc: s.Doc.Text() + s.Comment.Text() + d.Doc.Text()})
			}
		}
	}
	return names
}

// noteFields notes the fields of a struct under the exported types they are of.
func noteFields(spec ast.Spec, fields map[string]map[string]bool) {
	ts, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	st, ok := ts.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range st.Fields.List {
		for of := range types(field.Type) {
			for _, id := range field.Names {
				if fields[of] == nil {
					fields[of] = map[string]bool{}
				}
				fields[of][id.Name] = true
			}
		}
	}
}

// types are the exported types of the package itself that an expression names.
func types(in ast.Node) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false // another package's
		case *ast.Ident:
			if n.IsExported() {
				found[n.Name] = true
			}
		}
		return true
	})
	return found
}

// sight is what examples show of a package.
type sight struct {
	pkg      string
	of       map[string]bool // queue.Open, and .Claim for a method that is called or passed on
	selected map[string]bool // fields
}

// Visit notes what a node shows.
func (s *sight) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok {
			s.of["."+f.Sel.Name] = true
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == s.pkg {
			s.of[n.Sel.Name] = true
		}
		s.selected[n.Sel.Name] = true
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			s.selected[key.Name] = true
		}
	}
	return s
}

// shows tells whether the examples name n; a type also by a field of it, or by a call
// of what takes or returns it.
func (s *sight) shows(n name, api []name) bool {
	switch n.kind {
	case method:
		_, own, _ := strings.Cut(n.name, ".")
		return s.of["."+own]
	case typ:
		return s.of[n.name] ||
			slices.ContainsFunc(slices.Collect(maps.Keys(n.fields)), func(field string) bool { return s.selected[field] }) ||
			slices.ContainsFunc(api, func(f name) bool { return f.about[n.name] && s.shows(f, nil) })
	}
	return s.of[n.name]
}
