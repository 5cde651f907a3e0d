package goapp

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

const imported = "package main\nimport (\n\"fmt\"\n\"os\"\n\"github.com/go-sql-driver/mysql\"\n)\n"

// Each way of making a data source name, with what stands behind the database's name.
func TestFindNamedDatabase(t *testing.T) {
	for _, c := range []struct {
		says, driver, source string
		want                 NamedDatabase // no Variable: there is none
	}{
		{"a configuration that is filled", "v1.6.0", `func f() string {
			config := mysql.NewConfig()
			config.Addr = getEnv("DB_HOST", "127.0.0.1") + ":3306"
			config.DBName = getEnv("DB_NAME", "shop")
			config.ParseTime = true
			return config.FormatDSN() }`, NamedDatabase{Variable: "DB_NAME", Default: "shop", First: "parseTime=true"}},
		{"a literal", "v1.7.1", `func f() string {
			c := mysql.Config{Net: "tcp", DBName: os.Getenv("DB_NAME"), AllowNativePasswords: true, CheckConnLiveness: true, Loc: time.Local, ParseTime: true}
			return c.FormatDSN() }`, NamedDatabase{Variable: "DB_NAME", First: "loc=Local"}},
		{"a literal that does not allow what NewConfig does", "v1.7.1", `func f() string {
			c := mysql.Config{DBName: os.Getenv("DB_NAME"), ParseTime: true}
			return c.FormatDSN() }`, NamedDatabase{Variable: "DB_NAME", First: "allowNativePasswords=false"}},
		{"a driver that escapes the name", "v1.8.1", `func f() string {
			config := mysql.NewConfig()
			config.DBName = os.Getenv("DB_NAME")
			return config.FormatDSN() }`, NamedDatabase{}},
		{"a place in the configuration that is not known", "v1.6.0", `func f(z *time.Location) string {
			config := mysql.NewConfig()
			config.DBName = os.Getenv("DB_NAME")
			config.Loc = z
			return config.FormatDSN() }`, NamedDatabase{}},
		{"a format", "v1.9.3", `func f() string {
			name := os.Getenv("DB_NAME")
			if name == "" { name = "shop" }
			return fmt.Sprintf("%s:%s@tcp(%s:%d)/%s?charset=utf8mb4&parseTime=true&loc=Local", u, p, h, 3306, name) }`,
			NamedDatabase{Variable: "DB_NAME", Default: "shop", First: "charset=utf8mb4"}},
		{"a format without parameters", "v1.9.3", `func f() string { return fmt.Sprintf("%s@unix(%s)/%s", u, s, os.Getenv("DB_NAME")) }`, NamedDatabase{Variable: "DB_NAME"}},
		{"a field", "v1.9.3", `func env() *E { return &E{Host: getEnv("DB_HOST", "h"), DBName: getEnv("DB_NAME", "shop")} }
			func f(e *E) string { return fmt.Sprintf("%v:%v@tcp(%v)/%v?parseTime=true", e.User, e.Password, e.Host, e.DBName) }`,
			NamedDatabase{Variable: "DB_NAME", Default: "shop", First: "parseTime=true"}},
		{"texts that are added", "v1.9.3", `func f() string { return u + ":" + p + "@tcp(" + h + ")/" + os.Getenv("DB_NAME") + "?parseTime=true" }`,
			NamedDatabase{Variable: "DB_NAME", First: "parseTime=true"}},
		{"chosen already", "v1.9.3", `func f() string { return fmt.Sprintf("%s@tcp(%s)/%s?interpolateParams=false", u, h, os.Getenv("DB_NAME")) }`, NamedDatabase{}},
		{"a name that is used elsewhere, too", "v1.9.3", `func f() string { return fmt.Sprintf("%s@tcp(%s)/%s?parseTime=true", u, h, os.Getenv("DB_NAME")) }
			func g() string { return os.Getenv("DB_NAME") }`, NamedDatabase{}},
		{"an encoding that forbids it", "v1.9.3", `func f() string { return fmt.Sprintf("%s@tcp(%s)/%s?charset=gbk", u, h, os.Getenv("DB_NAME")) }`, NamedDatabase{}},
		{"a zone with a slash behind the name", "v1.9.3", `func f() string { return fmt.Sprintf("%s@tcp(%s)/%s?parseTime=true&loc=Asia/Tokyo", u, h, os.Getenv("DB_NAME")) }`, NamedDatabase{}},
		{"a name that is no variable of the environment", "v1.9.3", `func f(n string) string { return fmt.Sprintf("%s@tcp(%s)/%s", u, h, n) }`, NamedDatabase{}},
		{"a driver of long ago", "v1.4.1", `func f() string { return fmt.Sprintf("%s@tcp(%s)/%s", u, h, os.Getenv("DB_NAME")) }`, NamedDatabase{}},
	} {
		got, err := FindNamedDatabase(map[string][]byte{"main.go": []byte(imported + c.source)}, c.driver)
		if c.want.Variable == "" {
			if err == nil {
				t.Errorf("%s: found %+v", c.says, *got)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		got.File, got.Line = "", 0
		if *got != c.want {
			t.Errorf("%s: %+v, want %+v", c.says, *got, c.want)
		}
	}
	// What it starts may take the name from the same variable.
	starts := strings.Replace(imported, `"os"`, "\"os\"\n\"os/exec\"", 1) + `func f() string { return fmt.Sprintf("%s@tcp(%s)/%s", u, h, os.Getenv("DB_NAME")) }`
	if got, err := FindNamedDatabase(map[string][]byte{"main.go": []byte(starts)}, "v1.9.3"); err == nil {
		t.Errorf("a program that starts others: %+v", *got)
	}
}

// The driver itself takes the name for what it shall: the option is on, and what the
// program says holds.
func TestWithValues(t *testing.T) {
	for first, behind := range map[string]string{
		"":                "",
		"parseTime=true":  "?parseTime=true&loc=Local",
		"charset=utf8mb4": "?charset=utf8mb4&parseTime=true&loc=Local",
		"loc=Local":       "?loc=Local&parseTime=true&charset=utf8",
	} {
		d := NamedDatabase{First: first}
		c, err := mysql.ParseDSN("u:p@tcp(127.0.0.1:3306)/" + d.WithValues("shop") + behind)
		if err != nil {
			t.Fatal(err)
		}
		has := behind != ""
		if c.DBName != "shop" || !c.InterpolateParams || c.ParseTime != has || (c.Loc.String() == "Local") != has {
			t.Errorf("%q: %+v", behind, *c)
		}
	}
}
