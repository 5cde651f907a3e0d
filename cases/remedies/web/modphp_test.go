package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

// modPHPIni switches OPcache off, as cases/wiki is found, and has room for fewer
// resolved paths than an application needs. OPcache leaves files alone that are
// younger than file_update_protection (2 s); a test changes them sooner.
const modPHPIni = `[PHP]
memory_limit = 99M
realpath_cache_size = 16K
session.save_handler = files
session.save_path = /var/lib/php/sessions
opcache.enable = 0
opcache.file_update_protection = 0
`

// phpWords are what PHP in Apache itself says.
const phpWords = `<?php
$s = function_exists('opcache_get_status') ? opcache_get_status(false) : false;
echo json_encode(['opcache' => $s !== false && $s['opcache_enabled'], 'realpath' => ini_get('realpath_cache_size'), 'timestamps' => (bool) ini_get('opcache.validate_timestamps'),
  'memory' => ini_get('memory_limit'), 'part' => ini_get('session.name')]);
`

type phpSays struct {
	OPcache    bool   `json:"opcache"`
	Realpath   string `json:"realpath"`
	Timestamps bool   `json:"timestamps"`
	Memory     string `json:"memory"`
}

func (x site) phpSays(t *testing.T) phpSays {
	t.Helper()
	_, text := x.get(t, "/says.php")
	var out phpSays
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// TestModPHP: the settings of PHP inside Apache are found, changed in its
// php.ini and in force, what Apache's own configuration says counts, and a
// deployment with timestamps off is seen after a reload.
func TestModPHP(t *testing.T) {
	ini := filepath.Join(bed.Folder(t), "php.ini")
	if err := os.WriteFile(ini, []byte(modPHPIni), 0o644); err != nil {
		t.Fatal(err)
	}
	x := startApache(t, "prefork", "PHPIniDir \""+filepath.Dir(ini)+"\"\n<Directory \"%DIR%/public\">\nphp_value memory_limit 77M\n</Directory>\n"+
		"<Directory \"%DIR%/public/part\">\nphp_admin_value session.name PART\n</Directory>", "      - {name: page, request: GET /, expect: {contains: [page 77M]}}\n")
	bed.Write(t, x.dir, "public/says.php", phpWords)
	if says := x.phpSays(t); says.OPcache || says.Realpath != "16K" || says.Memory != "77M" {
		t.Fatalf("as found: %+v", says)
	}
	x.known(t, ini)

	before := x.bed.Hash(t)
	opcache := x.bed.Apply(t, bed.Want(t, x.bed.Plans(t), "php.opcache:httpd"))
	x.bed.Answers(t, "OPcache")
	if says := x.phpSays(t); !says.OPcache {
		t.Errorf("OPcache is not on: %+v", says)
	}
	// With OPcache on, it looks for changed scripts.
	res := x.bed.Plans(t)
	if slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return p.ID == "php.opcache:httpd" }) {
		t.Error("OPcache is planned again although it is on")
	}
	for id, check := range map[string]func(){
		"php.timestamps:httpd": func() {
			if says := x.phpSays(t); says.Timestamps || !says.OPcache {
				t.Errorf("timestamps off: %+v", says)
			}
			x.redeploys(t)
		},
		"php.realpath:httpd": func() {
			if says := x.phpSays(t); says.Realpath != "4096K" {
				t.Errorf("realpath_cache_size: %+v", says)
			}
			x.bed.Answers(t, "realpath")
		},
	} {
		tx := x.bed.Apply(t, bed.Want(t, res, id))
		check()
		x.bed.Revert(t, tx)
	}
	x.bed.Revert(t, opcache)
	if x.bed.Hash(t) != before {
		t.Error("the target is not as before")
	}
	if text, err := os.ReadFile(ini); err != nil || string(text) != modPHPIni {
		t.Errorf("php.ini, %v:\n%s", err, text)
	}
}

// known: the snapshot knows whose word counts, and what stands in Apache's
// configuration is left alone.
func (x site) known(t *testing.T, ini string) {
	t.Helper()
	snap := x.bed.Snapshot(t)
	values, build := snap.PHP["httpd"], snap.Apache["httpd"]
	if build.PHPMain != ini || values["memory_limit"] != "77M" || values["session.name"] == "PART" || values["opcache.enable"] != "Off" {
		t.Errorf("php.ini %q; memory_limit %q, session.name %q, opcache.enable %q; %+v", build.PHPMain, values["memory_limit"], values["session.name"], values["opcache.enable"], build.PHPOverrides)
	}
	for _, key := range []string{"memory_limit", "session.name"} {
		if _, _, err := remedy.Set(x.bed.Stack, snap, []string{"httpd." + key + "=1"}); err == nil || !strings.Contains(err.Error(), "apache2.conf:") {
			t.Errorf("set %s, which Apache's configuration sets: %v", key, err)
		}
	}
}

// redeploys: a changed script is seen only after Apache was reloaded.
func (x site) redeploys(t *testing.T) {
	t.Helper()
	bed.Write(t, x.dir, "public/version.php", "<?php echo 'version 1';\n")
	if _, body := x.get(t, "/version.php"); body != "version 1" {
		t.Fatal(body)
	}
	bed.Write(t, x.dir, "public/version.php", "<?php echo 'version 2';\n")
	for range 5 {
		if _, body := x.get(t, "/version.php"); body != "version 1" {
			t.Errorf("%q although timestamps are not checked", body)
		}
	}
	c, err := stack.NewController(x.bed.Hosts["local"], x.bed.Stack, x.bed.Stack.Service("httpd"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Old processes end after the request that they serve.
	await.For(t, "the changed script after a reload of Apache", func() bool {
		_, body := x.get(t, "/version.php")
		return body == "version 2"
	})
}
