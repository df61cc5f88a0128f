package command

import (
	"go/ast"
	"go/parser"
	"path/filepath"
	"slices"
	"testing"
)

// byWords are the functions that may look at the words of a message, and why.
var byWords = map[string]string{
	"queue/forbidden.go":      "looks for the names of our own objects, which no language changes",
	"sql/local/postmaster.go": "reads the log of the private server, which speaks the C locale",
}

// searches are the functions that find something in a text.
var searches = []string{"Contains", "HasPrefix", "HasSuffix", "Index", "EqualFold", "Cut", "MatchString", "FindString"}

// A server's messages are in its language, and the driver's change with its version: an
// error is judged by its SQLSTATE, its type and the conditions, never by its words.
func TestHouseErrorsAreNotJudgedByTheirWords(t *testing.T) {
	t.Parallel()
	for path, file := range sources(t, parser.SkipObjectResolution) {
		if byWords[filepath.ToSlash(path)] != "" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(searches, f.Sel.Name) && slices.ContainsFunc(call.Args, errorWords) {
				t.Errorf("%s looks for words in an error's text: decide by its SQLSTATE or its type", path)
			}
			return true
		})
	}
}

// errorWords tells whether an argument is the text of an error: of PostgreSQL's, or what
// Error returns.
func errorWords(argument ast.Expr) (found bool) {
	ast.Inspect(argument, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || slices.Contains([]string{"Message", "Detail", "Hint"}, n.Sel.Name)
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && f.Sel.Name == "Error" && len(n.Args) == 0
		}
		return true
	})
	return found
}
