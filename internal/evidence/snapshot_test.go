package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/load"
)

func take(t testing.TB, l *live, opts TakeOptions) *Snapshot {
	t.Helper()
	snap, err := Take(context.Background(), l.st, l.hosts, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range snap.Health {
		if !h.OK {
			t.Errorf("%s: %s", h.Source, h.Text)
		}
	}
	return snap
}

func TestTake(t *testing.T) {
	l := startLive(t)
	css := liveFiles["public/css/site.css"]
	sum := sha256.Sum256([]byte(css))
	asset := load.StaticSample{Path: "/css/site.css", Status: 200, ContentType: "text/css", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(css))}
	other := asset
	other.Path, other.SHA256 = "/css/none.css", asset.SHA256
	snap := take(t, l, TakeOptions{Assets: []load.StaticSample{asset, other}})

	files := snap.Files["local"]
	for _, name := range []string{"my.cnf", "my.d/extra.cnf", "nginx.conf", "conf.d/site.conf", "php.ini", "fpm.conf", "pool.d/www.conf", "app.ini"} {
		f, ok := files[filepath.Join(l.dir, name)]
		if !ok || f.Hash != string(host.HashOf(f.Content)) || f.Mode != 0o644 || !f.Writable {
			t.Errorf("%s: in the snapshot %t: %+v", name, ok, f)
		}
	}
	if f, ok := files["/etc/nginx/fastcgi_params"]; !ok || f.Service != "web" {
		t.Errorf("a file included by an absolute path: %t %+v", ok, f)
	}
	scanned := 0
	for p, f := range files {
		if strings.Contains(p, "/fpm/conf.d/") {
			scanned++
			if f.Writable {
				t.Errorf("%s is shared with other programs, but writable", p)
			}
		}
	}
	if scanned == 0 {
		t.Error("the scan folder was not read")
	}

	php := snap.PHP["php"]
	for k, want := range map[string]string{"memory_limit": "99M", "opcache.enable": "Off", "session.save_path": l.dir + "/sessions",
		"pool.www.memory_limit": "99M", "pool.www.opcache.enable": "1"} {
		if php[k] != want {
			t.Errorf("php %s: %q, want %q", k, php[k], want)
		}
	}
	if !strings.HasPrefix(php["version"], "8.") {
		t.Errorf("php version %q", php["version"])
	}
	if b := snap.Nginx["web"]; !strings.HasPrefix(b.Version, "1.") || len(b.Modules) == 0 {
		t.Errorf("nginx: %+v", b)
	}
	if os.Getuid() == 0 {
		if u := snap.Users["local/web"]; u.Name != "www-data" || u.Group != "www-data" {
			t.Errorf("web runs as %+v", u)
		}
		if u := snap.Users["local/db"]; u.Name != "mysql" {
			t.Errorf("db runs as %+v", u)
		}
		if !snap.Root {
			t.Error("Root is false")
		}
	}
	if snap.Memory < 1<<28 || snap.CPUs < 1 {
		t.Errorf("memory %d, CPUs %d", snap.Memory, snap.CPUs)
	}
	want := map[string]StaticFile{"/css/site.css": {Host: "local", Path: l.dir + "/public/css/site.css", ContentType: "text/css", Readable: true}}
	if !reflect.DeepEqual(snap.StaticFiles, want) {
		t.Errorf("static files: %+v", snap.StaticFiles)
	}
	checkDatabase(t, snap.Databases["db"])
	if text, err := json.Marshal(snap); err != nil || strings.Contains(string(text), "pm.max_children") {
		t.Errorf("JSON holds files' contents, or %v", err)
	}
	if list := snap.FileList(); len(list) != len(files) || !strings.HasPrefix(list[0], "local:/") {
		t.Errorf("%q", list)
	}
}

func checkDatabase(t *testing.T, db *Database) {
	t.Helper()
	if db == nil || !db.MariaDB || db.Variables["max_connections"] != "50" || db.DataBytes == 0 {
		t.Fatalf("database: %+v", db)
	}
	if len(db.Tables) != 2 || db.Tables[1].Name != "users" || db.Tables[1].Schema != "shop" {
		t.Fatalf("tables: %+v", db.Tables)
	}
	if keys := db.Tables[0].ForeignKeys; len(keys) != 2 || keys[0].Acts || !keys[1].Acts || keys[1].Name != "up" || keys[1].RefTable != "log" {
		t.Errorf("foreign keys of %s: %+v", db.Tables[0].Name, keys)
	}
	users := db.Tables[1]
	distinct, prefix := map[string]int64{}, map[string]int{}
	for _, c := range users.Columns {
		distinct[c.Name], prefix[c.Name] = c.Distinct, c.Prefix
	}
	if distinct["login"] != 999 || distinct["city"] != 7 || distinct["email"] < 500 || distinct["bio"] != 0 {
		t.Errorf("distinct values: %v", distinct)
	}
	if c := users.Columns[2]; c.Name != "password_hash" || c.Nulls < 0.24 || c.Nulls > 0.26 || users.Columns[4].Nulls != 0 {
		t.Errorf("a quarter of the rows has none: %+v", c)
	}
	// All begin alike, and differ in the 28th character and those after it.
	if distinct["home"] != 999 || prefix["home"] != 32 || prefix["bio"] != 0 || prefix["login"] != 0 {
		t.Errorf("prefixes: %v, distinct values %v", prefix, distinct)
	}
	if c := users.Columns[1]; c.Name != "login" || c.Type != "varchar(100)" || c.Nullable {
		t.Errorf("column: %+v", c)
	}
	if users.RowBytes <= 0 || users.AutoIncrement <= 0 {
		t.Errorf("%d bytes a row, next ID %d", users.RowBytes, users.AutoIncrement)
	}
	for i := range users.Indexes {
		x := &users.Indexes[i]
		if x.Reads < 0 || x.Cardinality <= 0 {
			t.Errorf("index %s: %d reads, cardinality %d", x.Name, x.Reads, x.Cardinality)
		}
		x.Reads, x.Cardinality = 0, 0
	}
	want := []TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Type: "BTREE"},
		{Name: "email", Unique: true, Columns: []string{"email"}, Type: "BTREE"},
		{Name: "part", Columns: []string{"city(5)", "login"}, Type: "BTREE"}}
	if !reflect.DeepEqual(users.Indexes, want) {
		t.Errorf("indexes: %+v", users.Indexes)
	}
}

// Without performance_schema, user statistics count reads by index.
func TestIndexUseByUserStatistics(t *testing.T) {
	l := startLive(t)
	ctx := context.Background()
	db, err := ReadDatabase(ctx, l.db)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[[2]string]*Table{}
	for i := range db.Tables {
		table := &db.Tables[i]
		byName[[2]string{table.Schema, table.Name}] = table
		for k := range table.Indexes {
			table.Indexes[k].Reads = -1
		}
	}
	db.Variables["performance_schema"], db.Variables["userstat"] = "OFF", "OFF"
	users := byName[[2]string{"shop", "users"}]
	if readIndexUse(ctx, l.db, db, byName); users.Indexes[1].Reads != -1 {
		t.Errorf("nothing counts, but: %+v", users.Indexes)
	}
	l.set(t, map[string]string{"userstat": "ON"})
	db.Variables["userstat"] = "ON"
	conn, err := l.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRowContext(ctx, "SELECT id FROM shop.users WHERE email = '7@x'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	await.For(t, "the index to be counted", func() bool {
		readIndexUse(ctx, l.db, db, byName)
		return users.Indexes[1].Reads > 0
	})
	if x := users.Indexes[1]; x.Name != "email" || x.Reads < 1 || users.Indexes[2].Reads != 0 {
		t.Errorf("%+v", users.Indexes)
	}
}

// Every kind of change moves the hash, and putting it back moves it back.
func TestSnapshotHash(t *testing.T) {
	l := startLive(t)
	before := take(t, l, TakeOptions{})
	if again := take(t, l, TakeOptions{Brief: true}); again.Hash() != before.Hash() {
		t.Fatalf("two snapshots of the same differ: %v", before.Differences(again))
	}
	conf := filepath.Join(l.dir, "conf.d/site.conf")
	old, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(q string) func() error {
		return func() error { _, err := l.db.Exec(q); return err }
	}
	for _, c := range []struct {
		subject  string
		do, undo func() error
	}{
		{"conf.d/site.conf", func() error { return os.WriteFile(conf, append(old, '\n'), 0o644) }, func() error { return os.WriteFile(conf, old, 0o644) }},
		{"mode 0600", func() error { return os.Chmod(conf, 0o600) }, func() error { return os.Chmod(conf, 0o644) }},
		{"is new", func() error { return os.WriteFile(filepath.Join(l.dir, "my.d/z.cnf"), []byte("[mysqld]\n"), 0o644) },
			func() error { return os.Remove(filepath.Join(l.dir, "my.d/z.cnf")) }},
		{"variable db.innodb_flush_log_at_trx_commit", exec("SET GLOBAL innodb_flush_log_at_trx_commit = 2"), exec("SET GLOBAL innodb_flush_log_at_trx_commit = 1")},
		{"index db.shop.users.l: is new", exec("CREATE INDEX l ON shop.users (login)"), exec("DROP INDEX l ON shop.users")},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		changed := take(t, l, TakeOptions{Brief: true})
		if changed.Hash() == before.Hash() {
			t.Errorf("%s: the hash did not change", c.subject)
		}
		if diff := strings.Join(before.Differences(changed), "\n"); !strings.Contains(diff, c.subject) || strings.Contains(diff, "\n") {
			t.Errorf("%s: differences are %q", c.subject, diff)
		}
		if err := c.undo(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.db.Exec("INSERT INTO shop.log (user_id, ip) VALUES (1, 'x')"); err != nil {
		t.Fatal(err)
	}
	if after := take(t, l, TakeOptions{Brief: true}); after.Hash() != before.Hash() {
		t.Errorf("after undo: %v", before.Differences(after))
	}
}

func TestReadable(t *testing.T) {
	dir, err := os.MkdirTemp("", "kev")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "a", "f.css")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a/f.css", filepath.Join(dir, "link.css")); err != nil {
		t.Fatal(err)
	}
	mine := ProcessUser{UID: os.Getuid(), GID: os.Getgid()}
	group := ProcessUser{UID: 65000, GID: 65000, Groups: []int{os.Getgid()}}
	nobody := ProcessUser{UID: 65000, GID: 65000}
	check := func(why string, p string, u ProcessUser, want bool) {
		t.Helper()
		if got := readable(context.Background(), host.NewLocal(), p, u); got != want {
			t.Errorf("%s: %t, want %t", why, got, want)
		}
	}
	check("the folder is closed to others", file, nobody, false)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	check("owner", file, mine, true)
	check("member of the group", file, group, true)
	check("neither", file, nobody, false)
	check("through a link", filepath.Join(dir, "link.css"), group, true)
	check("a link to a file that may not be read", filepath.Join(dir, "link.css"), nobody, false)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	check("everybody", file, nobody, true)
	check("a folder is no file", filepath.Dir(file), nobody, false)
	check("missing", file+"x", mine, false)
}

func TestParsePHPInfo(t *testing.T) {
	info := parsePHPInfo(fixture(t, "phpinfo.txt"))
	for k, want := range map[string]string{"memory_limit": "77M", "opcache.enable": "Off", "session.save_path": "/x", "opcache.jit": "", "version": "8.2.35"} {
		if got, ok := info.Values[k]; !ok || got != want {
			t.Errorf("%s: %q %t, want %q", k, got, ok, want)
		}
	}
	if info.Ini != "/srv/app/etc/php.ini" || info.ScanDir != "/etc/php/8.2/fpm/conf.d" || len(info.Scanned) != 22 || info.Scanned[21] != "/etc/php/8.2/fpm/conf.d/20-tokenizer.ini" {
		t.Errorf("%q %q %q", info.Ini, info.ScanDir, info.Scanned)
	}
	// The section of environment variables was added to the capture by hand.
	if _, ok := info.Values["DB_PASSWORD"]; ok {
		t.Error("the environment was taken for settings")
	}
}

func TestParseNginxBuild(t *testing.T) {
	b, err := parseNginxBuild(fixture(t, "nginx-V.txt"))
	if err != nil || b.Version != "1.22.1" || len(b.Modules) < 30 || !strings.HasPrefix(b.Modules[0], "--with-cc-opt=-g -O2") {
		t.Errorf("%+v %v", b, err)
	}
}

func TestMountedAs(t *testing.T) {
	mounts := []byte("tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\ntmpfs /run tmpfs ro 0 0\n")
	if !mountedAs(mounts, "/dev/shm", "tmpfs") || mountedAs(mounts, "/run", "tmpfs") || mountedAs(mounts, "/tmp", "tmpfs") {
		t.Error("mounts were misread")
	}
}
