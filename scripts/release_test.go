package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// in runs a shell line in a folder; it must succeed.
func in(t *testing.T, dir, line string, env ...string) string {
	t.Helper()
	out, err := tried(dir, line, env...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

func tried(dir, line string, env ...string) (string, error) {
	cmd := exec.Command("bash", "-euc", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null")...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// source copies this working tree to a folder and commits it there.
func source(t *testing.T, to string) {
	t.Helper()
	in(t, "..", `mkdir -p "$TO"; git ls-files -co --exclude-standard -z | while read -rd '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done | xargs -0 cp -P --parents -t "$TO"`, "TO="+to)
	in(t, to, `git init -q -b main; git add -A; git commit -qm all`)
}

// The same commit gives the same bytes in two folders, umasks and time zones; the
// package holds a program that runs, its pages and completions.
func TestReleaseIsReproducible(t *testing.T) {
	await.SkipShort(t)
	goPath := filepath.Dir(in(t, "..", "scripts/go.sh"))
	arch := in(t, "..", goPath+"/go env GOHOSTARCH")
	dir := t.TempDir()
	var sums []string
	for _, folder := range []struct{ name, umask, zone string }{{"a", "022", "UTC"}, {"elsewhere/b", "077", "Asia/Tokyo"}} {
		tree := filepath.Join(dir, folder.name)
		source(t, tree)
		in(t, tree, "umask "+folder.umask+"; scripts/release.sh "+arch, "SBOM=0", "COMPRESS=none", "LEVEL=1", "TZ="+folder.zone, "PATH="+goPath+":"+os.Getenv("PATH"))
		sums = append(sums, in(t, tree+"/dist", "sha256sum -c --quiet SHA256SUMS; cat SHA256SUMS"))
	}
	if sums[0] != sums[1] || !strings.Contains(sums[0], ".deb") || !strings.Contains(sums[0], ".tar.gz") {
		t.Errorf("two folders give\n%s\nand\n%s", sums[0], sums[1])
	}
	root := filepath.Join(dir, "root")
	in(t, dir, "dpkg-deb -x a/dist/kasoku_*.deb root; cd root/usr/share; test -s man/man1/kasoku-scenario-check.1.gz -a -s bash-completion/completions/kasoku -a -s zsh/vendor-completions/_kasoku -a -s fish/vendor_completions.d/kasoku.fish -a -s doc/kasoku/copyright")
	version := in(t, dir, "dpkg-deb -f a/dist/kasoku_*.deb Version")
	commit := in(t, dir+"/a", "git rev-parse HEAD")
	if said := in(t, root, "usr/bin/kasoku version"); !strings.HasPrefix(said, "kasoku "+version+" (commit "+commit[:12]+" 2026-01-02T03:04:05Z, go") {
		t.Errorf("the packaged program says %q", said)
	}
	if left := in(t, dir, `strings -a root/usr/bin/kasoku | grep -cF "$PWD" || true`); left != "0" {
		t.Errorf("the program holds its folder's name in %s places", left)
	}
	in(t, dir+"/a", "echo >> README.md")
	if out, err := tried(dir+"/a", "scripts/release.sh "+arch); err == nil || !strings.Contains(out, "not committed") {
		t.Errorf("a source with changes: %v %s", err, out)
	}
}

// A version is that of the file, with the commits since; one that is not committed says so.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	in(t, "..", `mkdir "$TO/scripts"; cp scripts/version.sh "$TO/scripts/"`, "TO="+dir)
	in(t, dir, "echo 1.2.3 > VERSION; echo > other; git init -q; git add -A; git commit -qm one")
	want := func(want string) {
		t.Helper()
		if got := in(t, dir, "scripts/version.sh"); got != want {
			t.Errorf("version %q, want %q", got, want)
		}
	}
	want("1.2.3")
	in(t, dir, "echo x > other")
	want("1.2.3+changed")
	in(t, dir, "git commit -qam two")
	short := in(t, dir, "git rev-parse --short=7 HEAD")
	want("1.2.3+1.g" + short)
	in(t, dir, "echo y > other")
	want("1.2.3+1.g" + short + ".changed")
	in(t, dir, "rm -rf .git; git init -q")
	want("dev")
}

// Entries become a version's part of CHANGELOG.md, by kind; what is wrong is refused
// with its place, and nothing is written.
func TestChangelog(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("changelog.sh")
	if err != nil {
		t.Fatal(err)
	}
	call := func(args string) (string, error) { return tried(dir, script+" "+args, "CHANGELOG_ROOT="+dir) }
	write("VERSION", "0.1.0\n")
	write("CHANGELOG.md", "# Changelog\n\n## 0.1.0 – 2026-01-01\n\n- All.\n")
	write("changelog/unreleased/a b.md", "Fixed:\nA fault \\n\nis gone.\n")
	write("changelog/unreleased/a.md", "Added:\n\nOne thing.\n")
	write("changelog/unreleased/c.md", "Added:\nAnother.\n")
	for args, want := range map[string]string{"release 0.2": "write it as 0.2.0", "release 0.1.0": "CHANGELOG.md has 0.1.0 already", "release 0.0.9": "before 0.1.0"} {
		if out, err := call(args); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v %s", args, err, out)
		}
	}
	write("changelog/unreleased/d.md", "New things:\nx\n")
	for _, args := range []string{"check", "show", "release 0.2.0"} {
		if out, err := call(args); err == nil || !strings.Contains(out, "changelog/unreleased/d.md:1:") {
			t.Errorf("%s with a wrong entry: %v %s", args, err, out)
		}
	}
	write("changelog/unreleased/d.md", "Fixed:\n\n")
	if out, err := call("check"); err == nil || !strings.Contains(out, "says nothing") {
		t.Errorf("an entry without text: %v %s", err, out)
	}
	if err := os.Remove(filepath.Join(dir, "changelog/unreleased/d.md")); err != nil {
		t.Fatal(err)
	}
	if out, err := call("release 0.2.0"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	got := in(t, dir, "cat CHANGELOG.md VERSION; ls changelog/unreleased; date -u +%F")
	text, day := got[:strings.LastIndex(got, "\n")], got[strings.LastIndex(got, "\n")+1:]
	if want := "# Changelog\n\n## 0.2.0 – " + day + "\n\n### Added\n\n- One thing.\n- Another.\n\n### Fixed\n\n- A fault \\n\n  is gone.\n\n## 0.1.0 – 2026-01-01\n\n- All.\n0.2.0"; text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if out, err := call("release 0.3.0"); err == nil || !strings.Contains(out, "nothing to release") {
		t.Errorf("without entries: %v %s", err, out)
	}
}
