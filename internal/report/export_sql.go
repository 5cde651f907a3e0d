package report

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"strings"

	"kasoku/internal/change"
)

// setGlobal is the statement for a variable. A number or a keyword stays bare,
// as the server wants it; everything else becomes a string.
func setGlobal(c change.Change) string {
	value := c.AfterValue
	if !bareValue.MatchString(value) {
		value = text(value)
	}
	return fmt.Sprintf("SET GLOBAL %s = %s", ident(c.Variable), value)
}

var bareValue = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?|ON|OFF)$`)

// indexSQL is CREATE or DROP INDEX.
func indexSQL(c change.Change) (string, error) {
	x := c.Index
	if x == nil {
		return "", fmt.Errorf("a change of kind %q names no index", c.Kind)
	}
	table := ident(x.Schema) + "." + ident(x.Table)
	if c.Drop {
		return fmt.Sprintf("DROP INDEX %s ON %s", ident(x.Name), table), nil
	}
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", ident(x.Name), table, change.ColumnList(x.Columns)), nil
}

// unlessDone wraps an index's statement so that it can be run again: CREATE
// INDEX IF NOT EXISTS is only MariaDB's.
func unlessDone(c change.Change, stmt string) string {
	done := "COUNT(*) > 0"
	if c.Drop {
		done = "COUNT(*) = 0"
	}
	return fmt.Sprintf("SET @kasoku = (SELECT IF(%s, 'DO 0', %s) FROM information_schema.statistics WHERE table_schema = %s AND table_name = %s AND index_name = %s);\n"+
		"PREPARE kasoku FROM @kasoku; EXECUTE kasoku; DEALLOCATE PREPARE kasoku;\n", done, text(stmt), text(c.Index.Schema), text(c.Index.Table), text(c.Index.Name))
}

// text is a string literal in the default sql_mode.
func text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

const sqlHead = "-- Written by kasoku export: indexes, engines and variables of the kept changes, in order. It can be run again.\n\n"

// ident quotes a name (MariaDB manual, "Identifier Names").
func ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// quote makes one word of a POSIX shell.
func quote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

func quoteAll(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = quote(a)
	}
	return strings.Join(words, " ")
}

// comment keeps text on one line, so that it cannot leave a comment of a shell
// script or of SQL.
func comment(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }), " ")
}

// client is the command that takes a database's statements, with where it
// listens as kasoku.yaml has it.
func (x *exporter) client(service string) []string {
	argv := []string{"mysql"}
	if x.options.Stack == nil {
		return argv
	}
	svc := x.options.Stack.Service(service)
	if svc == nil {
		return argv
	}
	endpoint := ""
	if len(svc.Listen) > 0 {
		endpoint = svc.Listen[0]
	}
	if svc.Login != nil {
		endpoint = cmp.Or(svc.Login.Address, endpoint)
		if svc.Login.Socket != "" {
			endpoint = "unix:" + svc.Login.Socket
		}
	}
	if socket, ok := strings.CutPrefix(endpoint, "unix:"); ok {
		return append(argv, "--socket="+socket)
	}
	if name, port, err := net.SplitHostPort(endpoint); err == nil {
		return append(argv, "--host="+name, "--port="+port)
	}
	return argv
}
