package watchdog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Every kind of event that the gateway records has a text of its own. Their
// names are read from the gateway's source: this package does not import it.
func TestGatewayKindsHaveTheirText(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../gateway/counts.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, text)
		}
		return true
	})
	if len(kinds) < 7 {
		t.Fatalf("the kinds are %q", kinds)
	}
	for _, kind := range kinds {
		text := Gateway{Kind: kind, Provider: "acme", Cause: "502"}.Text()
		own := !strings.HasPrefix(text, "acme: "+kind)
		if own != (kind != "done") { // which is not recorded
			t.Errorf("%s is told as %q", kind, text)
		}
	}
}
