package haproxy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/await"
	_ "kasoku/internal/rapidseed"
)

// program is the real HAProxy.
func program(t *testing.T) string {
	t.Helper()
	found, err := exec.LookPath("haproxy")
	if err != nil {
		found = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(found); err != nil {
		t.Fatalf("%s is not installed; run make deps-test", found)
	}
	return found
}

// checked is what `haproxy -c` says of a text.
func checked(t *testing.T, program, text string) (said string, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-c", "-f", file).CombinedOutput()
	return string(out), err == nil
}

// TestHAProxyReadsTheSameWords: HAProxy's .notice prints its first word, and
// refuses a second one by name.
func TestHAProxyReadsTheSameWords(t *testing.T) {
	bin := program(t)
	pieces := []string{"a", "b", " ", "\t", "\v", "#", `\`, `\\`, `\#`, `\ `, `\t`, `\x41`, `\q`, `'`, `"`, `\'`, `\"`, "$A", `\$`, "\r", "é", "{", "[", "~"}
	gen := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8)
	var lines, want []string
	for i := range 400 {
		line := ".notice x" + strings.Join(gen.Example(i), "")
		all, err := words(line, 0, len(line))
		switch {
		case err != nil:
			want = append(want, "refused")
		case len(all) == 2 && all[1].Variable:
			continue // an environment variable's value
		case len(all) == 2:
			want = append(want, fmt.Sprintf("'%s'.", all[1].Text))
		default:
			want = append(want, fmt.Sprintf("Unexpected argument '%s'", all[2].Text))
		}
		lines = append(lines, line)
	}
	said, _ := checked(t, bin, strings.Join(lines, "\n")+"\nglobal\n")
	about := map[string]string{}
	parts := regexp.MustCompile(`parsing \[[^\]]*cfg:(\d+)\] ?: `).FindAllStringSubmatchIndex(said, -1)
	for i, m := range parts {
		end := len(said)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		about[said[m[2]:m[3]]] += said[m[1]:end]
	}
	compared := 0
	for i, w := range want {
		got := about[fmt.Sprint(i+1)]
		if got == "" {
			continue // HAProxy ends after so many faults
		}
		compared++
		if w == "refused" && strings.HasPrefix(got, "'x") || w != "refused" && !strings.Contains(got, w) {
			t.Errorf("%q: HAProxy says %q, this package %q", lines[i], got, w)
		}
	}
	if compared < 100 {
		t.Errorf("only %d of %d lines were compared:\n%s", compared, len(want), said)
	}
}

// TestHAProxyTakesEdits: what HAProxy takes before edits it takes after them,
// on random files of the kinds of lines that people write.
func TestHAProxyTakesEdits(t *testing.T) {
	await.SkipShort(t)
	bin := program(t)
	heads := []string{"frontend F@\n    bind 127.0.0.1:@\n", "frontend 'F@' from base # named\n\tbind 127.0.0.1:@\n", "listen F@\n  bind \"127.0.0.1:@\"\n", "defaults D@ from base\n", "backend F@\n"}
	lines := []string{"    option httplog\n", "\toption\ttcplog # old\n", "    # option httplog\n", "\n", "    log global\r\n", "    log-format '%ci \"%r\" %Ta'\n", "    .if defined(HOME)\n    timeout client 9s\n    .else\n    timeout client 8s\n    .endif\n"}
	gen := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom(heads).Draw(t, "head") + strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 4).Draw(t, "lines"), "")
	}), 1, 4)
	for i := range 25 {
		src := "global\n    log 127.0.0.1:9 local0\ndefaults base\n    mode http\n    log global\n    timeout client 5s\n    timeout connect 5s\n    timeout server 5s\nfrontend first\n    bind 127.0.0.1:19999\n"
		for j, s := range gen.Example(i) {
			s = strings.ReplaceAll(s, ":@", fmt.Sprintf(":%d", 20000+j))
			src += strings.ReplaceAll(s, "@", fmt.Sprint(j))
		}
		if said, ok := checked(t, bin, src); !ok {
			t.Fatalf("HAProxy does not take\n%s\n%s", src, said)
		}
		c := Parse("/x", []byte(src))
		var changes []Change
		for _, s := range c.Sections("frontend", "listen") {
			if old := s.Find("option", "tcplog"); len(old) > 0 {
				changes = append(changes, old[0].Replace("option", "httplog"))
			} else {
				changes = append(changes, s.Head.Follow("option", "httplog"), s.Head.Follow("log-tag", `it's "a" #b\$X`))
			}
		}
		if _, err := c.Apply(changes...); err != nil {
			t.Fatalf("%v:\n%s", err, src)
		}
		now := string(c.Files[0].Bytes())
		if said, ok := checked(t, bin, now); !ok {
			t.Errorf("HAProxy took\n%s\nand does not take\n%s\n%s", src, now, said)
		}
	}
}
