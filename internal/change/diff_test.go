package change

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

func TestDiff(t *testing.T) {
	numbered := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"
	for _, c := range []struct{ name, before, after, want string }{
		{"no change", "a\n", "a\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"insert at the beginning", "b\n", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n+a\n b\n"},
		{"all gone", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{"last newline gone", "a\n", "a", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"two hunks", numbered, strings.Replace(strings.Replace(numbered, "2\n3", "2\nx\n3", 1), "19\n", "", 1),
			"--- a/f\n+++ b/f\n@@ -1,5 +1,6 @@\n 1\n 2\n+x\n 3\n 4\n 5\n@@ -16,5 +17,4 @@\n 16\n 17\n 18\n-19\n 20\n"},
		{"binary", "a\x00", "b", "Binary files a/f and b/f differ\n"},
		{"secret", "user=x\npassword=old\n", "user=x\npassword=old\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n user=x\n password=[hidden]\n+b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantEqual(t, "diff", Diff(edit1("/f", c.before, c.after, "", None)), c.want)
		})
	}
	created := Change{Kind: KindFile, Path: "/f", Before: &FileState{}, After: stateOf("a\n")}
	wantEqual(t, "created", Diff(created), "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n")
	index := &Index{Schema: "s", Table: "t`", Name: "i", Columns: []string{"a", "b(10)"}}
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{Kind: KindIndex, Index: index}, "CREATE INDEX `i` ON `s`.`t``` (`a`, `b`(10));\n-- undo: DROP INDEX `i` ON `s`.`t```;\n"},
		{Change{Kind: KindIndex, Index: index, Drop: true, IndexDef: "UNIQUE KEY `i` (`a`)"}, "DROP INDEX `i` ON `s`.`t```;\n-- undo: CREATE UNIQUE INDEX `i` ON `s`.`t``` (`a`);\n"},
		{Change{Kind: KindVariable, Variable: "v", BeforeValue: "1.5", AfterValue: "o'n\\"}, "SET GLOBAL v = 'o''n\\\\';\n-- undo: SET GLOBAL v = 1.5;\n"},
		{Change{Kind: KindVariable, Variable: "v", BeforeValue: "ON", AfterValue: ""}, "SET GLOBAL v = '';\n-- undo: SET GLOBAL v = ON;\n"},
		{Change{Kind: KindDir, Path: "/kasoku", After: &FileState{Mode: 0o700}}, "mkdir -m 0700 /kasoku\n# undo: rm -r /kasoku\n"},
		{Change{Kind: KindExec, Apply: []string{"a", "it's"}, Undo: []string{"b", "--token=x"}}, "a 'it'\\''s'\n# undo: b --token=[hidden]\n"},
		{Change{Kind: KindRestart, Service: "db", Activate: Restart}, "# restart db\n"},
	} {
		wantEqual(t, "diff", Diff(c.change), c.want)
	}
}

// TestDiffLines: the edit script leads from a to b, and is no longer than
// necessary.
func TestDiffLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letter := rapid.SampledFrom([]string{"a", "b", "c"})
		a := rapid.SliceOfN(letter, 0, 15).Draw(t, "a")
		b := rapid.SliceOfN(letter, 0, 15).Draw(t, "b")
		var from, to []string
		changed := 0
		for _, e := range diffLines(a, b) {
			if e.mark != '+' {
				from = append(from, e.text)
			}
			if e.mark != '-' {
				to = append(to, e.text)
			}
			if e.mark != ' ' {
				changed++
			}
		}
		if !slices.Equal(from, a) || !slices.Equal(to, b) {
			t.Fatalf("%v to %v became %v to %v", a, b, from, to)
		}
		if want := len(a) + len(b) - 2*common(a, b); changed != want {
			t.Fatalf("%d edits from %v to %v, %d would do", changed, a, b, want)
		}
	})
	long := slices.Repeat([]string{"x\n", "y\n"}, 3000)
	other := slices.Repeat([]string{"p\n", "q\n"}, 3000)
	if n := len(diffLines(long, other)); n != 12000 {
		t.Fatalf("%d edits of files that have nothing in common", n)
	}
}

// common is the length of a longest common subsequence, by its definition.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"password = geheim":                         "password = [hidden]",
		"password=\"ge heim\" # x":                  "password=\"[hidden]\" # x",
		"'DB_PASSWORD' => 'x', 'DB_USER' => 'u'":    "'DB_PASSWORD' => '[hidden]', 'DB_USER' => 'u'",
		"define('DB_PASSWORD', 'x');":               "define('DB_PASSWORD', '[hidden]');",
		"$wgDBpassword = \"x\";":                    "$wgDBpassword = \"[hidden]\";",
		"$cfg['secret'] = 'x';":                     "$cfg['secret'] = '[hidden]';",
		"fastcgi_param API_TOKEN x;":                "fastcgi_param API_TOKEN [hidden];",
		"requirepass foo":                           "requirepass [hidden]",
		"MYSQL_PWD=foo mysqldump":                   "MYSQL_PWD=[hidden] mysqldump",
		"{\"apiKey\": \"x\"}":                       "{\"apiKey\": \"[hidden]\"}",
		"redis://:geheim@cache:6379/0":              "redis://:[hidden]@cache:6379/0",
		"mysql://u:geheim@db/x":                     "mysql://u:[hidden]@db/x",
		"shop:geheim@tcp(127.0.0.1:3306)/shop":      "shop:[hidden]@tcp(127.0.0.1:3306)/shop",
		"server_tokens off;":                        "server_tokens off;",
		"password_hash($x)":                         "password_hash($x)",
		"password = ''":                             "password = ''",
		"auth_basic \"users only\"; listen [::]:80": "auth_basic \"users only\"; listen [::]:80",
		"proxy_pass http://127.0.0.1:8080;":         "proxy_pass http://127.0.0.1:8080;",
		"fastcgi_pass unix:/run/php.sock;":          "fastcgi_pass unix:/run/php.sock;",
	} {
		wantEqual(t, in, Redact(in), want)
		wantEqual(t, "twice: "+in, Redact(want), want)
	}
}

// TestFileStateJSON: modes are written as chmod takes them.
func TestFileStateJSON(t *testing.T) {
	for _, mode := range []fs.FileMode{0, 0o644, 0o7 | fs.ModeSetuid, 0o777 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky} {
		s := FileState{Hash: "ab", Mode: mode, UID: 1, GID: -1, ModTime: long}
		b, err := json.Marshal(s)
		must(t, err)
		var got FileState
		must(t, json.Unmarshal(b, &got))
		if !reflect.DeepEqual(s, got) {
			t.Fatalf("%s became %+v", b, got)
		}
	}
	b, err := json.Marshal(Change{Kind: KindFile, After: &FileState{Mode: 0o644}})
	must(t, err)
	if !strings.Contains(string(b), `"mode":"0644"`) {
		t.Fatalf("%s", b)
	}
	var s FileState
	if json.Unmarshal([]byte(`{"mode":"rw"}`), &s) == nil || json.Unmarshal([]byte(`{"mode":"99999"}`), &s) == nil {
		t.Fatal("a wrong mode was taken")
	}
}
