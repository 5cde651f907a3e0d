package phpvars

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T, name string) *File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(name, data)
}

// php runs a settings file and returns what its variables are then, and what
// the expressions that stand for them make there.
func php(t *testing.T, file *File, expressions map[string]string) (vars, made map[string]any) {
	t.Helper()
	dir := t.TempDir()
	more, err := os.ReadFile("testdata/more.inc")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"settings.php": file.Bytes(), "more.inc": more} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code := `ob_start(); $r = (function() { include $GLOBALS["argv"][1]; $v = get_defined_vars(); $m = [];
		foreach (json_decode($GLOBALS["argv"][2], true) as $name => $code) { try { $m[$name] = eval("return " . $code . ";"); } catch (Throwable $e) { $m[$name] = "error " . $e->getMessage(); } }
		foreach ($v as $name => $x) { if ($x instanceof Closure) { $v[$name] = $m[$name] = "closure"; } }
		return ["vars" => $v, "made" => $m]; })(); ob_end_clean(); echo json_encode($r, JSON_FORCE_OBJECT);`
	if expressions == nil {
		expressions = map[string]string{}
	}
	asked, err := json.Marshal(expressions)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("php", "-d", "display_errors=0", "-r", code, filepath.Join(dir, "settings.php"), string(asked)).CombinedOutput()
	if err != nil {
		t.Fatalf("php: %v\n%s\n%s", err, out, file.Bytes())
	}
	var got map[string]map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return got["vars"], got["made"]
}

func same(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

// What is Sure is what PHP itself makes of the file.
func TestReadsAsPHP(t *testing.T) {
	for _, name := range []string{"wiki.php", "tag.php", "returns.php"} {
		f := load(t, name)
		if err := f.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		expressions := map[string]string{}
		for _, n := range f.Names() {
			if v, _ := f.Get(n); v.Sure {
				expressions[n] = v.Text
			}
		}
		vars, made := php(t, f, expressions)
		for n, code := range expressions {
			if !same(t, vars[n], made[n]) {
				t.Errorf("%s: $%s = %s makes %v, PHP has %v", name, n, code, made[n], vars[n])
			}
		}
		if len(expressions) == 0 {
			t.Errorf("%s: sure of nothing", name)
		}
	}
}

func TestGet(t *testing.T) {
	for _, c := range []struct {
		why, file, name, want string
		sure                  bool
	}{
		{"the last of two", "wiki.php", "wgMainCacheType", "CACHE_NONE", true},
		{"quotes, semicolons and variables in a string", "wiki.php", "wgSitename", `"It's \"a\" wiki; $IP {$IP} // no comment"`, true},
		{"a comment behind it", "wiki.php", "wgScriptPath", `""`, true},
		{"not what a heredoc holds", "wiki.php", "wgRaw", "<<<'RAW'\n\t$wgRaw = 6;\n\tRAW", true},
		{"an array that also gets parts", "wiki.php", "wgGroups", "[ 'user' => [ 'edit' => true ] ]", false},
		{"behind a condition without braces", "wiki.php", "wgJobs", "1", false},
		{"with an operator later", "wiki.php", "wgTotal", "1", false},
		{"only in a comment", "wiki.php", "wgCacheDirectory", "", false},
		{"only in a block", "wiki.php", "wgInLoop", "", false},
		{"only in a function", "wiki.php", "wgJobs2", "", false},
		{"ended by the tag", "tag.php", "debug", "false", true},
		{"before an include", "returns.php", "a", "1", false},
		{"behind the include", "returns.php", "b", "2", true},
		{"behind the return", "returns.php", "c", "", false},
	} {
		v, _ := load(t, c.file).Get(c.name)
		if v.Text != c.want || v.Sure != c.sure {
			t.Errorf("%s: $%s of %s is %q, sure %t; want %q, %t", c.why, c.name, c.file, v.Text, v.Sure, c.want, c.sure)
		}
	}
}

// An edit changes the bytes of one expression or adds one line, and PHP reads
// the new value and all others as before.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		why, file, name, code string
		old, new              string // the only replacement in the text
	}{
		{"a constant", "wiki.php", "wgMainCacheType", "CACHE_ANYTHING", "$wgMainCacheType = CACHE_NONE; #", "$wgMainCacheType = CACHE_ANYTHING; #"},
		{"an array", "wiki.php", "wgMemCachedServers", "[ '127.0.0.1:11211' ]", "$wgMemCachedServers = [];", "$wgMemCachedServers = [ '127.0.0.1:11211' ];"},
		{"a new one at the end", "wiki.php", "wgCacheDirectory", Quote(`/a'b\c`), "$wgTotal += 2;\n", "$wgTotal += 2;\n$wgCacheDirectory = '/a\\'b\\\\c';\n"},
		{"before a closing tag behind code", "tag.php", "extra", "5", "$debug = false ?>\n", "$debug = false \n$extra = 5;\n?>\n"},
		{"in front of a return", "returns.php", "new", "6", "return [", "$new = 6;\nreturn ["},
		{"again where an include may set it", "returns.php", "a", "6", "return [", "$a = 6;\nreturn ["},
	} {
		f := load(t, c.file)
		before := string(f.Bytes())
		was, _ := php(t, f, nil)
		if c.file == "tag.php" && c.name == "extra" {
			// A statement that only the tag ends cannot be followed by another.
			if err := f.Set(c.name, c.code); err == nil || string(f.Bytes()) != before {
				t.Errorf("%s: %v\n%s", c.why, err, f.Bytes())
			}
			continue
		}
		if err := f.Set(c.name, c.code); err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if want := strings.Replace(before, c.old, c.new, 1); string(f.Bytes()) != want || want == before {
			t.Errorf("%s: the text is\n%s\nwant\n%s", c.why, f.Bytes(), want)
		}
		now, made := php(t, f, map[string]string{c.name: c.code})
		if !same(t, now[c.name], made[c.name]) {
			t.Errorf("%s: PHP has %v for %s", c.why, now[c.name], c.code)
		}
		for n, v := range was {
			if n != c.name && !same(t, v, now[n]) {
				t.Errorf("%s: $%s was %v and is %v", c.why, n, v, now[n])
			}
		}
		once := string(f.Bytes())
		if err := f.Set(c.name, c.code); err != nil || string(f.Bytes()) != once {
			t.Errorf("%s: set again: %v\n%s", c.why, err, f.Bytes())
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ why, src, name, code, says string }{
		{"set in a block", "<?php\nif ( $x ) { $a = 1; }\n", "a", "2", "line 2"},
		{"set in parts", "<?php\n$a = [];\n$a['b'] = 1;\n", "a", "[]", "line 3"},
		{"set by its name", "<?php\n$a = 1;\n$GLOBALS['a'] = 2;\n", "a", "3", "line 3"},
		{"taken away", "<?php\n$a = 1;\nunset( $a );\n", "a", "3", "line 3"},
		{"by reference", "<?php\n$a = 1;\n$b = &$a;\n$b = 2;\n", "a", "3", "line 3"},
		{"an expression with a tail", "<?php\n$a = 1;\n", "a", "2; evil()", "no expression"},
		{"one that opens a bracket", "<?php\n$a = 1;\n", "a", "[ 1", "no expression"},
		{"one that sets another", "<?php\n$a = 1;\n", "a", "$b = 2", "no expression"},
		{"a text that is no PHP", "a = 1\n", "a", "2", "no PHP code"},
		{"a string without end", "<?php\n$a = 'x;\n", "a", "2", "does not end"},
		{"a statement without end", "<?php\n$a = 1", "a", "2", "does not end"},
		{"a bracket without end", "<?php\n$a = [ 1;\n", "a", "2", "not closed"},
		{"blocks without braces", "<?php\nif ( $x ):\n$a = 1;\nendif;\n", "a", "2", "endif"},
	} {
		f := Parse("x.php", []byte(c.src))
		if err := f.Set(c.name, c.code); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.why, err, c.says)
		}
		if string(f.Bytes()) != c.src || len(f.Changed()) > 0 {
			t.Errorf("%s: the text changed:\n%s", c.why, f.Bytes())
		}
	}
}

// No text makes it fail, and an edit that succeeds reads back.
func FuzzSet(f *testing.F) {
	for _, name := range []string{"wiki.php", "tag.php", "closed.php", "returns.php"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "wgMainCacheType")
	}
	f.Fuzz(func(t *testing.T, src, name string) {
		if name == "" || strings.TrimFunc(name, func(r rune) bool { return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) != "" {
			return
		}
		file := Parse("x.php", []byte(src))
		if err := file.Set(name, "42"); err != nil {
			if string(file.Bytes()) != src {
				t.Errorf("an error and another text: %v", err)
			}
			return
		}
		if v, ok := Parse("x.php", file.Bytes()).Get(name); !ok || v.Text != "42" {
			t.Errorf("it reads %q", v.Text)
		}
	})
}
