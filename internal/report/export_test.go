package report

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// blobs is the journal's bytes by hash.
type blobs map[host.Hash][]byte

func (b blobs) Blob(h host.Hash) ([]byte, error) {
	if data, ok := b[h]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("no blob %s", h)
}

func (b blobs) state(text string) *change.FileState {
	h := host.HashOf([]byte(text))
	b[h] = []byte(text)
	return &change.FileState{Hash: h, Mode: 0o640, UID: os.Getuid(), GID: os.Getgid()}
}

// keptOn returns kept transactions for files below target.
func keptOn(target string) ([]change.Tx, blobs) {
	b := blobs{}
	conf := filepath.Join(target, "it's a.conf")
	return []change.Tx{
		{ID: 1, Title: "Cache directory", Changes: []change.Change{
			{Kind: change.KindDir, Path: filepath.Join(target, "cache"), After: &change.FileState{Mode: 0o700, UID: -1, GID: -1}},
			{Kind: change.KindFile, Service: "web", Activate: change.Reload, Path: conf, After: b.state("first\n"), Why: "because\nrm -rf /"},
			{Kind: change.KindVariable, Service: "db", Variable: "table_open_cache", BeforeValue: "400", AfterValue: "4000", Why: "why; DROP TABLE x"}}},
		{ID: 3, Title: "Index", Changes: []change.Change{
			{Kind: change.KindIndex, Service: "db", Why: "scan", Index: &change.Index{Schema: "shop", Table: "o`x", Name: "kasoku_a", Columns: []string{"a", "b(10)"}}},
			{Kind: change.KindIndex, Service: "db", Drop: true, Index: &change.Index{Schema: "shop", Table: "t", Name: "old"}},
			{Kind: change.KindTable, Service: "db", Why: "hot", Table: &change.Table{Schema: "shop", Name: "i`d", Engine: "Aria", Before: "InnoDB"}},
			{Kind: change.KindVariable, Service: "db", Variable: "sql_mode", AfterValue: `A,'B\`}}},
		{ID: 5, Title: "Second thought", Changes: []change.Change{
			{Kind: change.KindFile, Service: "web", Activate: change.Restart, Path: conf, After: b.state("final\n")},
			{Kind: change.KindFile, Path: filepath.Join(target, "gone"), Before: b.state(""), After: &change.FileState{}},
			{Kind: change.KindExec, Apply: []string{"touch", "--", "a b;c"}, Undo: []string{"rm", "--", "a b;c"}, Dir: target}}},
		{ID: 6, Title: "Restart every service", Changes: []change.Change{{Kind: change.KindRestart, Service: "db", Activate: change.Restart}}},
	}, b
}

func TestExport(t *testing.T) {
	target := t.TempDir()
	kept, b := keptOn(target)
	dir := filepath.Join(t.TempDir(), "new", "tuned")
	files, err := Export(dir, kept, b, ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conf := "files/local" + target + "/it's a.conf"
	if want := []string{conf, "changes.diff", "changes.sql", "apply.sh", "playbook.yml", "README.md"}; !slices.Equal(files, want) {
		t.Errorf("wrote %q, want %q", files, want)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := read(conf); got != "final\n" {
		t.Errorf("the file holds %q", got)
	}
	sql := read("changes.sql")
	for _, want := range []string{"SET GLOBAL `table_open_cache` = 4000;", "-- CREATE INDEX `kasoku_a` ON `shop`.`o``x` (`a`, `b`(10));",
		"-- DROP INDEX `old` ON `shop`.`t`;", `SET GLOBAL ` + "`sql_mode`" + ` = 'A,''B\\';`} {
		if !strings.Contains(sql, "\n"+want+"\n") {
			t.Errorf("changes.sql has no line %q:\n%s", want, sql)
		}
	}
	if strings.Contains(read("apply.sh"), "restart db") || !strings.Contains(read("apply.sh"), "restart web") {
		t.Errorf("services to restart:\n%s", read("apply.sh"))
	}
	if readme := read("README.md"); !strings.Contains(readme, "1. `changes.sql`") || !strings.Contains(readme, "5. Second thought") || strings.Contains(readme, "Restart every") {
		t.Errorf("README:\n%s", readme)
	}
}

// TestApplyScriptWorks runs the script on files of its own.
func TestApplyScriptWorks(t *testing.T) {
	target := t.TempDir()
	kept, b := keptOn(target)
	dir := t.TempDir()
	if _, err := Export(dir, kept, b, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(target, "gone")
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time changes nothing
		if text, err := exec.Command("sh", filepath.Join(dir, "apply.sh")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	conf := filepath.Join(target, "it's a.conf")
	if got, err := os.ReadFile(conf); err != nil || string(got) != "final\n" {
		t.Errorf("after the script: %q, %v", got, err)
	}
	if st, err := os.Stat(conf); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v, %v", st.Mode(), err)
	}
	if st, err := os.Stat(filepath.Join(target, "cache")); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v", err)
	}
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the removed file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(target, "a b;c")); err != nil {
		t.Errorf("the command did not run in its folder: %v", err)
	}
}

func TestExportRefuses(t *testing.T) {
	kept, b := keptOn("/etc/x")
	full := t.TempDir()
	mine := filepath.Join(full, "mine")
	if err := os.WriteFile(mine, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(full, kept, b, ExportOptions{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a folder that is not empty: %v", err)
	}
	if _, err := Export(full, kept, b, ExportOptions{Force: true}); err != nil {
		t.Errorf("forced: %v", err)
	}
	if got, _ := os.ReadFile(mine); string(got) != "precious" {
		t.Error("force touched a file that is not of the export")
	}
	if _, err := Export(mine, kept, b, ExportOptions{Force: true}); err == nil {
		t.Error("a file as the folder was taken")
	}
	if _, err := Export(filepath.Join(t.TempDir(), "a"), kept, blobs{}, ExportOptions{}); err == nil || !strings.Contains(err.Error(), "it's a.conf") {
		t.Errorf("missing bytes: %v", err)
	}
	bad := []change.Tx{{ID: 1, Changes: []change.Change{{Kind: "new kind"}}}}
	if _, err := Export(filepath.Join(t.TempDir(), "a"), bad, b, ExportOptions{}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("unknown kind: %v", err)
	}
}

// TestExportStaysInside: no path leaves the folder, neither by its own text
// nor through a link that stands there.
func TestExportStaysInside(t *testing.T) {
	b := blobs{}
	outside := t.TempDir()
	for _, c := range []change.Change{
		{Path: "/../../../../" + outside + "/up"}, {Host: "..", Path: "/../x"}, {Host: "../../..", Path: outside + "/host"}, {Path: "relative"},
	} {
		c.Kind, c.After = change.KindFile, b.state("x")
		dir := filepath.Join(t.TempDir(), "d")
		files, err := Export(dir, []change.Tx{{ID: 1, Changes: []change.Change{c}}}, b, ExportOptions{})
		if err != nil {
			t.Errorf("%q %q: %v", c.Host, c.Path, err)
			continue
		}
		if !strings.HasPrefix(files[0], "files/") || slices.Contains(strings.Split(files[0], "/"), "..") {
			t.Errorf("%q %q went to %q", c.Host, c.Path, files[0])
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "files")); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(dir, []change.Tx{{ID: 1, Changes: []change.Change{{Kind: change.KindFile, Path: "/p", After: b.state("x")}}}}, b, ExportOptions{Force: true}); err == nil {
		t.Error("wrote through a link out of the folder")
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("outside holds %v", left)
	}
}

func TestShellWordsAreOneWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(rapid.String().Draw(t, "s"), "\x00", "")
		got, err := exec.Command("sh", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(got) != s {
			t.Fatalf("%q came back as %q, %v", s, got, err)
		}
	})
}

func TestCommentsEndWithTheirLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if s := comment(rapid.String().Draw(t, "s")); strings.ContainsAny(s, "\n\r\x00\u2028\u0085") {
			t.Fatalf("%q", s)
		}
	})
}
