package source

import (
	"fmt"
	"strings"
	"testing"
)

// Where a program is started is told by its name as the kernel has it.
func TestStarts(t *testing.T) {
	for _, c := range []struct {
		p       program
		program string
		want    string // "file:line function", "" nowhere
	}{
		{program{"a.go", "package a\n\nfunc pack(ctx context.Context) error {\n\treturn exec.CommandContext(ctx, \"zip\", \"-j\", out).Run()\n}\n"}, "zip", "a.go:4 pack"},
		{program{"a.go", "package a\n\nfunc user() {\n\texec.Command(\"/bin/bash\", \"-c\", `openssl dgst -sha512`)\n}\n"}, "openssl", "a.go:4 user"},
		{program{"a.go", "package a\n\nfunc user() {\n\texec.Command(\"/bin/bash\", \"-c\", `openssl dgst -sha512`)\n}\n"}, "bash", "a.go:4 user"},
		{program{"a.php", "<?php\nfunction digest($s) {\n  return trim(`x`) . shell_exec(\"printf %s \" . escapeshellarg($s) . \" | openssl dgst\");\n}\n"}, "printf", "a.php:3 digest"},
		{program{"a.py", "def thumb(f):\n    subprocess.run([\"convert\", f, \"-resize\", \"100\"], check=True)\n"}, "convert", "a.py:2 thumb"},
		{program{"a.rb", "def thumb(f)\n  system('convert', f)\nend\n"}, "convert", "a.rb:2 thumb"},
		{program{"a.js", "function render(f) {\n  return execFileSync('/usr/local/bin/wkhtmltopdf-amd64', [f])\n}\n"}, "wkhtmltopdf-amd", "a.js:2 render"},
		{program{"a.go", "package a\n\nfunc name() string { return run(\"zip\") }\n"}, "zip", ""},
		{program{"a.go", "package a\n\n// exec.Command(\"zip\")\nvar a = 1\n"}, "zip", ""},
	} {
		var got []string
		for _, s := range index(t, c.p).Starts(c.program) {
			got = append(got, fmt.Sprintf("%s:%d %s", s.File, s.Line, s.Function))
		}
		if told := strings.Join(got, ", "); told != c.want {
			t.Errorf("%s in %q: %q, want %q", c.program, c.p.src, told, c.want)
		}
	}
}
