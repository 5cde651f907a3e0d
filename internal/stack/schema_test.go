package stack

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// editor is the schema as an editor uses it.
func editor(t *testing.T) func(src []byte) error {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("https://kasoku.test/"+SchemaURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://kasoku.test/" + SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return func(src []byte) error {
		data, err := yaml.YAMLToJSON(src)
		if err != nil {
			return err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return s.Validate(doc)
	}
}

// yamlKeys of a struct that are read.
func yamlKeys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// Every key that Load reads is in the table with a meaning, and no other.
func TestKeysAreComplete(t *testing.T) {
	for i := range places {
		p := &places[i]
		var told []string
		for _, k := range p.keys {
			told = append(told, k.name)
			if k.meaning == "" {
				t.Errorf("%s: %s has no meaning", p.name, k.name)
			}
		}
		if read := yamlKeys(p.of); !slices.Equal(slices.Sorted(slices.Values(read)), slices.Sorted(slices.Values(told))) {
			t.Errorf("%s: Load reads %v, keys.go tells %v; then `go generate ./internal/stack`", p.name, read, told)
		}
	}
}

// contexts are whole files with one place left open (@), and keys that it needs.
var contexts = map[string]struct{ file, base string }{
	"stack":      {"{@}", `version: 1, services: [{name: web, kind: memcached}], load: {scenario: s.yaml, url: "http://127.0.0.1"}`},
	"host":       {inServices(`{name: web, kind: memcached}`, `hosts: {a: {@}}`), "ssh: root@a"},
	"service":    {inServices("{@}", ""), "name: web, kind: app"},
	"control":    {inServices("{name: web, kind: memcached, control: {@}}", ""), "pid_file: a.pid"},
	"health":     {inServices("{name: web, kind: memcached, health: {@}}", ""), ""},
	"login":      {inServices("{name: web, kind: mariadb, config: /my.cnf, login: {@}}", ""), "user: a"},
	"build":      {inServices("{name: web, kind: app, build: {@}}", ""), "dir: a, command: [go, build], products: [a]"},
	"variant":    {inServices("{name: web, kind: app, control: {pid_file: a.pid, start: [a]}, variants: [{@}]}", ""), "name: other, control: {unit: a.service}"},
	"load":       {`{version: 1, services: [{name: web, kind: memcached}], load: {@}}`, `scenario: s.yaml, url: "http://127.0.0.1"`},
	"snapshot":   {`{version: 1, services: [{name: web, kind: memcached}], load: {scenario: s.yaml, url: "http://127.0.0.1", reset: snapshot, snapshot: {@}}}`, ""},
	"command":    {inCommand("@"), "argv: [a]"},
	"value":      {inCommand("argv: [a], score: {@}"), ""},
	"pattern":    {inCommand("argv: [a], fail_if: {@}"), "regexp: a"},
	"latency":    {inCommand("argv: [a], latency: {@}"), ""},
	"regulation": {inServices(`{name: web, kind: memcached}`, `regulation: {@}`), "allow: [staleness]"},
	"checks":     {inServices(`{name: web, kind: memcached}`, `checks: {@}`), ""},
	"evidence":   {inServices(`{name: web, kind: memcached}`, `evidence: {@}`), ""},
	"tune":       {inServices(`{name: web, kind: memcached}`, `tune: {@}`), ""},
}

func inServices(service, more string) string {
	if more != "" {
		more = ", " + more
	}
	return `{version: 1, services: [` + service + `], load: {scenario: s.yaml, url: "http://127.0.0.1"}` + more + `}`
}

func inCommand(keys string) string {
	return `{version: 1, services: [{name: web, kind: memcached}], load: {url: "http://127.0.0.1", command: {` + keys + `}}}`
}

// with puts a key beside those that the place needs.
func with(place, key, value string) []byte {
	c := contexts[place]
	base := regexp.MustCompile(`(^|, )`+key+`: (\[[^\]]*\]|\{[^}]*\}|[^,]*)`).ReplaceAllString(c.base, "")
	return []byte(strings.Replace(c.file, "@", strings.Trim(base+", "+key+": "+value, ", "), 1))
}

// What Load takes, the schema takes; a key that one does not know, the other refuses.
func TestSchemaAgreesWithLoad(t *testing.T) {
	valid := editor(t)
	values := []string{"[]", "{}", "text", `"1"`, "1", "0", "-1", "0.5", "50", "true", "null", "1s", "1.5h", "[a, b]", "[a]", "{a: b}", "snapshot", "systemd", "local", "app", "nginx", "[staleness]",
		"[durability, nothing]", "auto", "off", "wrk", "ms", "web", `["127.0.0.1:80"]`, `["10.0.0.0/24"]`, `"http://127.0.0.1"`, `"127.0.0.1:4318"`, "{regexp: a}", "{json: $.a}", "{unit: a.service}", "{ssh: a}", "{}"}
	taken := map[string]int{}
	for i := range places {
		p := &places[i]
		if contexts[p.name].file == "" {
			t.Errorf("contexts has no place %q", p.name)
			continue
		}
		if src := []byte(strings.Replace(contexts[p.name].file, "@", contexts[p.name].base, 1)); valid(src) != nil {
			t.Errorf("%s: the schema refuses %s: %v", p.name, src, valid(src))
		}
		for _, k := range p.keys {
			for _, v := range values {
				src := with(p.name, k.name, v)
				_, err := parse("kasoku.yaml", src, t.TempDir())
				if err != nil {
					continue
				}
				taken[p.name+"."+k.name]++
				if err := valid(src); err != nil {
					t.Errorf("%s: %s: %s is right, but the schema refuses it: %v", p.name, k.name, v, err)
				}
			}
		}
		src := with(p.name, "nonsense", "1")
		if _, err := parse("kasoku.yaml", src, ""); err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%s: Load says about an unknown key: %v", p.name, err)
		}
		if valid(src) == nil {
			t.Errorf("%s: the schema takes an unknown key", p.name)
		}
	}
	if len(taken) < 90 {
		t.Errorf("only %d keys had a value that Load takes", len(taken))
	}
}

// The schema marks what an editor should: words, ranges and types.
func TestSchemaRefuses(t *testing.T) {
	valid := editor(t)
	for _, c := range [][3]string{{"service", "kind", "postgres"}, {"regulation", "allow", "[speed]"}, {"control", "method", "docker"}, {"tune", "smallest_effect", "1"},
		{"health", "timeout", "30"}, {"health", "timeout", `"-1s"`}, {"load", "workload", "-1"}, {"load", "reset", "5"}, {"stack", "version", "2"}, {"command", "format", "siegecraft"}, {"service", "listen", "a"}} {
		src := with(c[0], c[1], c[2])
		if _, err := parse("kasoku.yaml", src, ""); err == nil {
			t.Errorf("Load takes %s", src)
		}
		if valid(src) == nil {
			t.Errorf("the schema takes %s", src)
		}
	}
}

// The files in docs are what the table says.
func TestKeysDocuments(t *testing.T) {
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var keys bytes.Buffer
	if err := WriteKeys(&keys); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{SchemaURL: schema, "kasoku-yaml-keys.md": keys.Bytes()} {
		if got, err := os.ReadFile(filepath.Join("../../docs/reference", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/reference/%s is out of date (%v): run `go generate ./internal/stack`", name, err)
		}
	}
}

// Every kasoku.yaml of this repository is right for editors, too: those of the cases,
// with their parts put together and their placeholders filled in.
func TestSchemaTakesShipped(t *testing.T) {
	valid := editor(t)
	whole, err := filepath.Glob("../../cases/*/conf/kasoku*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	placeholder, seen := regexp.MustCompile(`@[A-Z_]+@`), 0
	for _, file := range whole {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		beside := func(part string) []byte {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(file), "kasoku."+part+".yaml"))
			if err != nil {
				return nil
			}
			return data
		}
		switch head := beside("head"); {
		case strings.HasSuffix(file, ".db.yaml"), strings.HasSuffix(file, ".head.yaml"), strings.HasSuffix(file, ".rest.yaml"):
			continue // parts of the others
		case head != nil:
			data = slices.Concat(head, data, beside("rest"))
		}
		if db := beside("db"); db != nil {
			data = bytes.ReplaceAll(data, []byte("@DB_SERVICE@\n"), db)
		}
		text := placeholder.ReplaceAllString(string(data), "x")
		if err := valid([]byte(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		seen++
	}
	if seen < 7 {
		t.Errorf("only %d files", seen)
	}
}
