package apache

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/memory"
	_ "kasoku/internal/rapidseed"
)

// program returns the path of a program that tests need.
func program(t testing.TB, name string) string {
	t.Helper()
	full := "/usr/sbin/" + name
	if _, err := os.Stat(full); err != nil {
		t.Fatalf("%s is not installed; run make deps-test", full)
	}
	return full
}

const modules = "/usr/lib/apache2/modules"

// bare loads what a configuration needs at least, and what the tests ask with.
func bareConf(dir string) string {
	var b strings.Builder
	for _, m := range []string{"mpm_event", "info", "authz_core", "macro"} {
		fmt.Fprintf(&b, "LoadModule %s_module %s/mod_%s.so\n", m, modules, m)
	}
	return b.String() + "PidFile " + dir + "/pid\nErrorLog /dev/stderr\nServerName x\nListen 127.0.0.1:9\n"
}

// ask runs apache2 -t with more arguments on a file.
func ask(t testing.TB, conf string, env map[string]string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(program(t, "apache2"), append([]string{"-t", "-d", filepath.Dir(conf), "-f", conf}, args...)...)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), nil
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return name
}

func disk(t testing.TB, conf string, env map[string]string) *Config {
	t.Helper()
	c, err := Load(conf, Options{Env: env, Version: serverVersion(t), Defines: []string{"DUMP_CONFIG"}}, os.ReadFile, filepath.Glob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serverVersion(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(program(t, "apache2"), "-v").Output()
	m := regexp.MustCompile(`Apache/([0-9.]+)`).FindStringSubmatch(string(out))
	if err != nil || m == nil {
		t.Fatalf("apache2 -v: %v, %s", err, out)
	}
	return m[1]
}

// TestReaderAgreesWithApache compares what Apache takes values for with what
// the package does: each is given to a Define, and Apache lists them.
func TestReaderAgreesWithApache(t *testing.T) {
	alphabet := []rune("ab\\\\\"\"'' \t#$${}}X<>\v\fé%@&\r")
	gen := rapid.Custom(func(t *rapid.T) string { return rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 12, -1).Draw(t, "raw") })
	lines := []string{`a\`, `"a\`, "a \\\r", `a\\`, `"open`, `'a"b'`, `"a'b"`, `a"b"c`, `${x}y`, `"${X}"`, `${nope}`, `$${X}`, "a\\\n b", "\"a\\\r\nb\""}
	for i := range 1500 {
		lines = append(lines, gen.Example(i))
	}
	dir := t.TempDir()
	var conf strings.Builder
	conf.WriteString(bareConf(dir) + "Define X xx\n")
	kept := 0
	for i, raw := range lines {
		// The empty lines take up what backslashes at the end join.
		line := fmt.Sprintf("Define V%d %s\n%s", i, raw, strings.Repeat("\n", 14))
		c, err := Load(mainPath, Options{}, memory.Files{mainPath: "Define X xx\n" + line + "A b\n"}.Read, nil)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		d := c.Root.Find("Define")
		if len(d) == 2 && len(d[1].Args) == 2 { // Apache takes no other number
			conf.WriteString(line)
			kept++
		}
	}
	file := write(t, filepath.Join(dir, "a.conf"), conf.String())
	out, err := ask(t, file, nil, "-D", "DUMP_RUN_CFG")
	if err != nil {
		t.Fatalf("%v\n%q", err, conf.String()[:1000])
	}
	got := map[string]string{}
	for row := range strings.SplitSeq(out, "\n") {
		if row, ok := strings.CutPrefix(row, "Define: V"); ok {
			name, value, _ := strings.Cut(row, "=") // without = if it is empty
			got["V"+name] = value
		}
	}
	c := disk(t, file, nil)
	compared := 0
	for _, d := range c.Root.Find("Define") {
		if strings.HasPrefix(d.Args[0], "V") {
			compared++
			if want := got[d.Args[0]]; d.Args[1] != want {
				t.Errorf("%q is %q to Apache, %q here", d.line.text, want, d.Args[1])
			}
		}
	}
	t.Logf("%d lines of %d compared", compared, len(lines))
	if compared != kept || kept < 300 || len(got) != kept {
		t.Errorf("%d lines were kept, %d compared, Apache listed %d", kept, compared, len(got))
	}
}

// onRead are directives that act while the server reads; its tree lacks them.
var onRead = regexp.MustCompile(`(?i)^(defaultruntimedir|include|includeoptional|define|undefine|loadmodule|loadfile|serverroot|use|macro|ifmodule|ifdefine|iffile|ifversion|ifdirective|ifsection|undefmacro|error|warning)$`)

// seen lists the directives as the package sees them.
func seen(d *Directive) []string {
	var out []string
	d.Walk(func(k *Directive) bool {
		if k.State == Inactive {
			return false
		}
		if onRead.MatchString(k.Name) && !(k.Is("error") && k.IsSection) {
			return !k.Is("Macro")
		}
		at := "macro"
		if !k.IsMacro() {
			at = fmt.Sprintf("%s:%d", k.File.Path, k.Line+strings.Count(strings.TrimRight(k.line.text, "\r\n"), "\n"))
		}
		out = append(out, fmt.Sprintf("%s %s %q", at, strings.ToLower(k.Name), k.Args))
		return true
	})
	return out
}

var dumpLine = regexp.MustCompile(`^\s*#\s+(\d+):$`)

// dumped reads what apache2 -D DUMP_CONFIG prints.
func dumped(out string) []string {
	var list []string
	file, at := "", ""
	for row := range strings.SplitSeq(out, "\n") {
		if name, ok := strings.CutPrefix(row, "# In file: "); ok {
			file = name
			continue
		}
		if m := dumpLine.FindStringSubmatch(row); m != nil {
			n, _ := strconv.Atoi(m[1])
			at = fmt.Sprintf("%s:%d", file, n)
			continue
		}
		s := strings.Trim(row, " ")
		if s == "" || strings.HasPrefix(s, "</") {
			continue
		}
		if strings.HasPrefix(file, "macro ") {
			at = "macro"
		}
		p := split(s)
		list = append(list, fmt.Sprintf("%s %s %q", at, strings.ToLower(p.name), values(p.args)))
	}
	return list
}

// agree requires that Apache sees the directives that the package sees.
func agree(t *testing.T, conf string, env map[string]string) {
	t.Helper()
	out, err := ask(t, conf, env, "-D", "DUMP_CONFIG")
	if err != nil {
		t.Fatal(err)
	}
	got, want := seen(disk(t, conf, env).Root), dumped(out)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("directive %d of %d: Apache sees\n%q\nand here is\n%q", i, len(want), slices.Concat(want, []string{"end"})[min(i, len(want)):], slices.Concat(got, []string{"end"})[min(i, len(got)):])
		}
	}
	if len(want) < 5 {
		t.Fatalf("only %d directives were compared", len(want))
	}
	t.Logf("%d directives agree", len(want))
}

// TestTreeAgreesWithApache lets Apache print its tree of hard configurations.
func TestTreeAgreesWithApache(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "d/b.conf"), "ServerAdmin d\n")
	write(t, filepath.Join(dir, "d/a.conf"), "ServerAdmin c\n")
	write(t, filepath.Join(dir, "d/e/.h.conf"), "ServerAdmin e\n")
	write(t, filepath.Join(dir, "d/.x.conf"), "Bogus\n")
	write(t, filepath.Join(dir, "e/x"), "ServerAdmin x\n")
	write(t, filepath.Join(dir, "e/.y/z"), "ServerAdmin z\n")
	conf := write(t, filepath.Join(dir, "a.conf"), bareConf(dir)+`# a comment \
Timeout 5
TIMEOUT \
 7
Define P "a b"
Define Q On
<Macro V $n $name %x>
 <Directory "/$n/$name">
 AllowOverride %x
 </Directory>
 Use W $n
</Macro>
<Macro W $n>
 Define from_$n
 ServerAdmin "$n ${P}"
</Macro>
Use V abc "d e" None
UndefMacro W
<IfDefine from_abc>
KeepAlive ${Q}
</IfDefine>
<IfDefine !from_abc>
Bogus
</IfDefine>
<VirtualHost *:80 "1.2.3.4:*" > trailing > x
 KeepAlive off
 <Directory "${P}" >
  AllowOverride \
    None
  <IfModule mod_nope.c>
   <Nope>
   </Nope>
  </IfModule>
 </directory>
 <If "%{HTTP_HOST} == 'x>y'">
  LogLevel debug
 </If>
</VirtualHost>
<ifmodule mpm_event_module>
 MaxRequestWorkers 100
</IfModule>
<IfModule event.c>
 ServerLimit 4
</IfModule>
<IfModule !prefork.c>
 ThreadsPerChild 25
</IfModule>
<IfModule core.c>
 ServerTokens Prod
</IfModule>
<IfFile /etc/passwd>
ServerAdmin "${P}"
</IfFile>
<IfFile d/nope>
Bogus
</IfFile>
<IfVersion >= 2.4>
ServerAdmin v
</IfVersion>
<IfVersion < 2.4>
Bogus
</IfVersion>
<IfVersion !~ ^2>
Bogus
</IfVersion>
IncludeOptional nope*.conf
IncludeOptional nope.conf
Include d/*.conf
Include e
Include d/e/.h*
UnDefine Q
ServerAdmin ${Q}${
<Files ~ "\.ht">
	Require all denied
</Files>
'ServerAdmin' "open
`)
	agree(t, conf, nil)
}
