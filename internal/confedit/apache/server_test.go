package apache

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		c, err := Load(mainPath, Options{}, memory{mainPath: "Define X xx\n" + line + "A b\n"}.read, nil)
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

// debian makes a copy of Debian's configuration and returns its main file and
// environment.
func debian(t *testing.T) (string, map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "apache2")
	if out, err := exec.Command("cp", "-a", "/etc/apache2", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "envvars"))
	if err != nil {
		t.Fatal(err)
	}
	env := Environment(text)
	for name, want := range map[string]string{"APACHE_RUN_USER": "www-data", "APACHE_LOG_DIR": "/var/log/apache2", "APACHE_RUN_DIR": "/var/run/apache2"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	return filepath.Join(dir, "apache2.conf"), env
}

// a2 runs a2enmod or a2dismod on a configuration folder.
func a2(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(program(t, name), append([]string{"-q", "-f"}, args...)...)
	cmd.Env = append(os.Environ(), "APACHE_CONFDIR="+dir, "APACHE_ENVVARS=/dev/null", "APACHE_STATE_DIRECTORY="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

func links(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(dir + "/mods-enabled/*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range found {
		target, err := os.Readlink(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = target
	}
	return out
}

// make carries a plan out.
func carryOut(t *testing.T, plan []Link) {
	t.Helper()
	for _, l := range plan {
		var err error
		if l.Remove {
			err = os.Remove(l.Path)
		} else {
			err = os.Symlink(l.Target, l.Path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDebian goes through MPMs on a copy of Debian's configuration: the links
// are those that a2dismod and a2enmod make, Apache sees the directives that
// the package sees, and takes every edit.
func TestDebian(t *testing.T) {
	conf, env := debian(t)
	dir := filepath.Dir(conf)
	m, err := LoadModules(dir, os.ReadFile, filepath.Glob)
	if err != nil {
		t.Fatal(err)
	}
	a2(t, dir, "a2enmod", "info", "rewrite", "proxy_fcgi", "http2", "ssl", "macro")
	for _, mpm := range []string{"event", "prefork", "worker", "event"} {
		theirs, _ := debian(t)
		theirDir := filepath.Dir(theirs)
		if out, err := exec.Command("sh", "-c", "rm -r "+theirDir+"/mods-enabled; cp -a "+dir+"/mods-enabled "+theirDir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if m, err = LoadModules(dir, os.ReadFile, filepath.Glob); err != nil {
			t.Fatal(err)
		}
		var drop, old []string
		for _, name := range m.Enabled() {
			if strings.HasPrefix(name, "php") {
				drop = append(drop, name)
			} else if strings.HasPrefix(name, "mpm_") && name != "mpm_"+mpm {
				old = append(old, name)
			}
		}
		if len(drop) > 0 && mpm != "prefork" {
			if _, err := m.SwitchMPM(mpm); err == nil || !strings.Contains(err.Error(), "depends on mpm_prefork") {
				t.Errorf("PHP's dependence on prefork is passed over: %v", err)
			}
		}
		plan, err := m.SwitchMPM(mpm, drop...)
		if err != nil {
			t.Fatal(err)
		}
		carryOut(t, plan)
		a2(t, theirDir, "a2dismod", old...)
		a2(t, theirDir, "a2enmod", "mpm_"+mpm)
		if a, b := links(t, dir), links(t, theirDir); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("links for %s:\n%v\na2enmod makes\n%v", mpm, a, b)
		}
		c := disk(t, conf, env)
		if c.MPM() != mpm {
			t.Errorf("MPM is %q, want %q", c.MPM(), mpm)
		}
		agree(t, conf, env)
		judge(t, c, mpm, env)
		agree(t, conf, env)
	}
}

// judge edits a configuration through what other packages use and lets Apache
// check the result.
func judge(t *testing.T, c *Config, mpm string, env map[string]string) {
	t.Helper()
	vhosts := c.VirtualHosts()
	if len(vhosts) != 1 {
		t.Fatalf("%d virtual hosts", len(vhosts))
	}
	edits := []error{
		c.Set("MaxRequestWorkers", nil, "100"),
		c.Set("ServerLimit", nil, "100"),
		c.Set("KeepAliveTimeout", nil, "2"),
		c.Set("EnableSendfile", nil, "On"),
		c.Set("HostnameLookups", vhosts[0], "Off"),
		c.Set("Timeout", vhosts[0], "30"),
		c.Root.Append("<Directory \"/srv/a b\">\n    AllowOverride None\n</Directory>"),
		vhosts[0].First("DocumentRoot").InsertAfter("# quick\n<Location /x>\n\tSetHandler none\n</Location>"),
	}
	if mpm == "prefork" {
		edits = append(edits, c.Set("MinSpareServers", nil, "3"))
	} else {
		edits = append(edits, c.Set("ThreadsPerChild", nil, "10"))
	}
	for i, err := range edits {
		if err != nil {
			t.Fatalf("edit %d: %v", i, err)
		}
	}
	if v, err := c.Value("MaxRequestWorkers", nil); err != nil || v.Text != "100" || !strings.HasSuffix(v.Set[0].File.Path, "mods-enabled/mpm_"+mpm+".conf") {
		t.Errorf("MaxRequestWorkers is %+v, %v", v, err)
	}
	var names []string
	for name, text := range c.Changed() {
		names = append(names, name)
		// As the change stage does, the file behind a link is written.
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sort.Strings(names)
	if len(names) < 2 {
		t.Errorf("changed only %v", names)
	}
	if _, err := ask(t, c.main, env); err != nil {
		t.Errorf("Apache refuses the edited configuration: %v", err)
	}
}

// TestRealApacheCorpus puts real snippets into a server that has all of
// Debian's modules; where Apache takes one, it must take it edited.
func TestRealApacheCorpus(t *testing.T) {
	dir := t.TempDir()
	head := bareConf(dir)
	loads, err := filepath.Glob("/etc/apache2/mods-available/*.load")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range loads {
		base := strings.TrimSuffix(filepath.Base(name), ".load")
		if !strings.HasPrefix(base, "mpm_") && !strings.HasPrefix(base, "php") && !slices.Contains([]string{"info", "authz_core", "macro", "cgi", "md", "lua", "heartbeat", "heartmonitor", "lbmethod_heartbeat"}, base) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			head += "<IfModule !" + base + "_module>\n" + string(text) + "\n</IfModule>\n"
		}
	}
	env := map[string]string{"APACHE_LOG_DIR": dir, "APACHE_RUN_DIR": dir, "APACHE_LOCK_DIR": dir, "APACHE_RUN_USER": "www-data", "APACHE_RUN_GROUP": "www-data", "APACHE_PID_FILE": dir + "/pid"}
	conf := write(t, filepath.Join(dir, "a.conf"), head)
	if _, err := ask(t, conf, env); err != nil {
		t.Fatalf("all modules together: %v", err)
	}
	files := corpus(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	judged := 0
	for i, name := range names {
		if strings.HasSuffix(name, ".load") || strings.Contains(name, "htaccess") || testing.Short() && i%4 != 0 {
			continue
		}
		part := write(t, filepath.Join(dir, "part.conf"), files[name])
		write(t, conf, head+"Include part.conf\n")
		if _, err := ask(t, conf, env); err != nil {
			continue // it wants files or modules that are not here
		}
		judged++
		c := disk(t, conf, env)
		f := c.byID[part]
		if f == nil {
			t.Fatalf("%s was not read", name)
		}
		edited := 0
		for _, d := range c.Root.First("Include").Children {
			where := []func(string) error{d.InsertBefore, d.InsertAfter}
			if d.IsSection && (d.Is("Directory") || d.Is("VirtualHost") || d.Is("Location") || d.Is("IfModule")) {
				where = append(where, d.Append)
			}
			for _, edit := range where {
				if err := edit("# new\nServerSignature Off"); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				edited++
			}
		}
		write(t, part, f.text())
		if _, err := ask(t, conf, env); err != nil && edited > 0 {
			t.Errorf("%s: Apache refuses the edited file: %v\n%s", name, err, f.text())
		}
	}
	t.Logf("%d files judged", judged)
	if judged < 15 {
		t.Errorf("Apache judged only %d files", judged)
	}
}
