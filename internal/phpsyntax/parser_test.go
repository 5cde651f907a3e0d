package phpsyntax

import (
	"errors"
	"testing"
)

// A node's bytes are those of its text; what is no PHP is an error, and the next text is
// read all the same.
func TestParse(t *testing.T) {
	p, err := Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Parse([]byte("<?php foreach (")); err == nil {
		t.Error("half a loop is a program")
	}
	const src = "<?php\nnamespace A;\nuse PDO as D;\nfunction f(D $d, $é) {\n  foreach ($é as [, $x]) { $d->query(\"a $x\")->fetch(D::FETCH_ASSOC); }\n}\n?><p>ü</p>\n"
	root, err := p.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	constant, function := "", ""
	root.Walk(func(n *Node) bool {
		texts[n.Kind] = src[n.From:n.To]
		if c := n.Constant(); c != "" {
			constant = c
		}
		if n.Is("Stmt_Function") {
			function = n.Resolved
		}
		return true
	})
	for kind, want := range map[string]string{"Scalar_Encapsed": `"a $x"`, "Stmt_Foreach": "foreach ($é as [, $x]) { $d->query(\"a $x\")->fetch(D::FETCH_ASSOC); }", "Stmt_InlineHTML": "<p>ü</p>\n"} {
		if texts[kind] != want {
			t.Errorf("%s is %q, want %q", kind, texts[kind], want)
		}
	}
	if constant != "PDO::FETCH_ASSOC" || function != `A\f` {
		t.Errorf("the constant is %q, the function %q", constant, function)
	}
}

// Without PHP one sentence says what is missing.
func TestNoPHP(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(t.Context(), nil); !errors.Is(err, ErrNoPHP) {
		t.Errorf("%v", err)
	}
}
