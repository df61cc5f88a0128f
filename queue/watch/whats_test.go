package watch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

func TestWhatsAreAllThereAre(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "state.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var declared []What
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "What" {
			return true
		}
		for _, value := range spec.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, What(text))
		}
		return true
	})
	if len(declared) < 10 || !slices.Equal(declared, Whats) {
		t.Errorf("Whats are %q, declared are %q", Whats, declared)
	}
}
