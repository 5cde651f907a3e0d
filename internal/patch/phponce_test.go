package patch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// One PHP reads all texts of a search, those that patches write included.
func TestOnePHPReadsAll(t *testing.T) {
	php, err := exec.LookPath("php")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	starts := filepath.Join(bin, "starts")
	if err := os.WriteFile(filepath.Join(bin, "php"), []byte("#!/bin/sh\necho >>"+starts+"\nexec "+php+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	sum := "    foreach ($all as $one) {\n        $stmt = $pdo->prepare('SELECT COUNT(*) FROM t WHERE k = ?');\n        $stmt->execute([$one]);\n        $n += $stmt->fetchColumn();\n    }\n    return $n;\n}\n"
	files := map[string]string{"composer.json": `{"require": {"php": ">=8.0"}}`, "t.sql": "CREATE TABLE t (k INT NOT NULL, a INT NOT NULL);"}
	for _, name := range []string{"one", "two", "three"} {
		files[name+".php"] = "<?php\nfunction " + name + "(PDO $pdo, array $all) {\n    $n = 0;\n" + sum + name + "(new PDO('mysql:'), [1]);\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	loaded, _ := os.ReadFile(starts)
	places := p.Find()
	if len(places) != 3 || places[0].Refused != nil || places[2].Refused != nil {
		t.Fatalf("%+v", places)
	}
	if found, _ := os.ReadFile(starts); len(found) != len(loaded)+1 {
		t.Errorf("PHP was started %d times to find %d places", len(found)-len(loaded), len(places))
	}
	if p.php.parser != nil {
		t.Error("it is still there")
	}
}
