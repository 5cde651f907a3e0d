package phpvars

import (
	"fmt"
	"testing"
)

// Each string is what PHP makes of the same text; what is more than a literal
// with plain variables is not read.
func TestString(t *testing.T) {
	const src = `<?php
$wgScriptPath = "/w";
$plain = 'http://wiki.example:8080';
$quotes = 'it\'s a \\ here\\';
$path = "$wgScriptPath/index.php/$1";
$braces = "{$wgScriptPath}x/$1";
$wgScriptPath = "/later";
$after = "$wgScriptPath";
$list = [ 'a' ];
`
	f := Parse("LocalSettings.php", []byte(src))
	vars, _ := php(t, f, nil)
	for _, name := range []string{"plain", "quotes", "path", "braces", "wgScriptPath", "after"} {
		if got, ok := f.String(name); !ok || got != fmt.Sprint(vars[name]) {
			t.Errorf("$%s: %q, %v; PHP makes %q", name, got, ok, vars[name])
		}
	}
	more := Parse("LocalSettings.php", []byte(src+`
$joined = 'a' . 'b';
$part = "$list[0]";
$field = "$list->x";
$complex = "{$list['x']}";
$name = "${plain}";
$nobody = "$unknown/x";
$escape = "a\n";
if ( $x ) { $maybe = 'b'; }
$maybe = 'a';
`))
	for _, name := range []string{"list", "joined", "part", "field", "complex", "name", "nobody", "escape", "maybe", "absent"} {
		if got, ok := more.String(name); ok {
			t.Errorf("$%s is read as %q", name, got)
		}
	}
}
