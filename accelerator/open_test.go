package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"testing"
)

// byDSN is a driver without connectors.
type byDSN struct{}

func (byDSN) Open(string) (driver.Conn, error) { return fakes["modern"](&diary{}), nil }

// Open and Register wrap a driver that has no connectors, and leave it as it is without rules.
func TestOpenByName(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(rules, []byte(oneRule), 0o600); err != nil {
		t.Fatal(err)
	}
	sql.Register("accelerator-plain", byDSN{})
	Register("accelerator-with", byDSN{}, rules)
	Register("accelerator-without", byDSN{}, filepath.Join(t.TempDir(), "none"))
	for _, one := range []struct {
		driver, rules string
		wrapped       bool
	}{{"accelerator-plain", rules, true}, {"accelerator-plain", "", false}, {"accelerator-with", "", true}, {"accelerator-without", "", false}} {
		db, err := Open(one.driver, "dsn", one.rules)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, err := db.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Raw(func(dc any) error {
			if _, wrapped := dc.(interface{ base() *conn }); wrapped != one.wrapped {
				t.Errorf("%s with rules %q: %T", one.driver, one.rules, dc)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open("accelerator-unknown", "dsn", rules); err == nil {
		t.Error("a driver that is not there")
	}
}
