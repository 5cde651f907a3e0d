package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"testing"
)

// byOpen is a driver that has connections by their DSN only, as those from before
// connectors.
type byOpen struct{ d *diary }

func (b byOpen) Open(dsn string) (driver.Conn, error) {
	b.d.add("open %s", dsn)
	return modern{bare(b)}, nil
}

// byConnector has connectors, too.
type byConnector struct{ byOpen }

func (b byConnector) OpenConnector(dsn string) (driver.Connector, error) {
	b.d.add("connector %s", dsn)
	return ofDriver{fake{b.d, func(d *diary) driver.Conn { return modern{bare{d}} }}, b}, nil
}

// ofDriver is a connector that names its driver, as the real ones do.
type ofDriver struct {
	fake
	d driver.Driver
}

func (o ofDriver) Driver() driver.Driver { return o.d }

// follows reports whether a connection of the pool follows rules.
func follows(t *testing.T, db *sql.DB) (yes bool) {
	t.Helper()
	defer db.Close()
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Raw(func(dc any) error {
		_, yes = dc.(interface{ base() *conn })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return yes
}

// A service that opens its database by Open, or by the name of a driver that Register has
// wrapped, follows the rules of a file, and works without them where that is missing or
// wrong.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"none": "", "missing": filepath.Join(dir, "missing.json"), "right": filepath.Join(dir, "right.json"), "wrong": filepath.Join(dir, "wrong.json")}
	for name, text := range map[string]string{"right": oneRule, "wrong": `{"format": 1, "rules": [{"id": "x", "kind": "other"}]}`} {
		if err := os.WriteFile(files[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for kind, plain := range map[string]driver.Driver{"by its name": byOpen{&diary{}}, "by a connector": byConnector{byOpen{&diary{}}}} {
		sql.Register("fake "+kind, plain)
		for file, path := range files {
			db, err := Open("fake "+kind, "the dsn", path)
			if err != nil {
				t.Fatal(err)
			}
			if got := follows(t, db); got != (file == "right") {
				t.Errorf("Open, driver %s, file %s: follows rules: %v", kind, file, got)
			}
			Register("wrapped "+kind+" "+file, plain, path)
			if db, err = sql.Open("wrapped "+kind+" "+file, "the dsn"); err != nil {
				t.Fatal(err)
			}
			if got := follows(t, db); got != (file == "right") {
				t.Errorf("Register, driver %s, file %s: follows rules: %v", kind, file, got)
			}
		}
	}
	if _, err := Open("no such driver", "", ""); err == nil {
		t.Error("a driver that is not there was opened")
	}
}
