package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

// advised is one line of what mysqltuner calls "Variables to adjust".
type advised struct {
	variable, relation, value string
}

// adviceLine: "join_buffer_size (> 256.0K, or always use indexes with JOINs)",
// "skip-name-resolve=ON", "innodb_log_file_size should be (=32M) if possible".
var adviceLine = regexp.MustCompile(`^\s*([a-z][a-z0-9_-]+)\s*(?:should be\s*)?\(?\s*(>=|<=|>|<|=|~)\s*([0-9.]+\s*[KMGT]?B?|ON|OFF)`)

// readAdvice reads the section of a mysqltuner output.
func readAdvice(r io.Reader) ([]advised, error) {
	var out []advised
	in := false
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "Variables to adjust"):
			in = true
		case in && line != "" && line[0] != ' ' && line[0] != '\t':
			in = false
		case in:
			if m := adviceLine.FindStringSubmatch(line); m != nil {
				out = append(out, advised{strings.ReplaceAll(m[1], "-", "_"), m[2], strings.TrimSuffix(strings.ReplaceAll(m[3], " ", ""), "B")})
			}
		}
	}
	return out, lines.Err()
}

// letter is the value that the advice names. mysqltuner prints the present
// value after ">" and "<"; people double or halve it.
func (a advised) letter() (string, error) {
	factor := 1.0
	switch a.relation {
	case ">":
		factor = 2
	case "<":
		factor = 0.5
	}
	if a.value == "ON" || a.value == "OFF" {
		return a.value, nil
	}
	unit := map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}[a.value[len(a.value)-1]]
	number := strings.TrimRight(a.value, "KMGT")
	if unit == 0 {
		unit = 1
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return "", fmt.Errorf("%s: %q is no number", a.variable, a.value)
	}
	return strconv.FormatInt(int64(n*unit*factor), 10), nil
}

// followAdvice applies every line by the letter and restarts the server.
func followAdvice(ctx context.Context, dir string, r io.Reader) error {
	list, err := readAdvice(r)
	if err != nil {
		return fmt.Errorf("read the advice: %w", err)
	}
	p, err := open(ctx, dir, 0, true)
	if err != nil {
		return err
	}
	defer p.close()
	snap, err := p.snapshot(ctx)
	if err != nil {
		return err
	}
	db := p.stack.OfKind(stack.MariaDB, stack.MySQL)[0]
	var sets []string
	for _, a := range list {
		v, err := a.letter()
		if err != nil {
			return err
		}
		if !has(snap, db.Name, a.variable) {
			fmt.Printf("%-28s not known to this server\n", a.variable)
			continue
		}
		fmt.Printf("%-28s %s\n", a.variable, v)
		sets = append(sets, fmt.Sprintf("%s.%s=%s", db.Name, a.variable, v))
	}
	if len(sets) == 0 {
		fmt.Println("mysqltuner would change nothing")
		return nil
	}
	changes, _, err := remedy.Set(p.stack, snap, sets)
	if err != nil {
		return err
	}
	tx, err := p.exec.Apply(ctx, change.Intent{Title: "mysqltuner's advice by the letter", Changes: changes})
	if err != nil {
		return fmt.Errorf("the server does not start with mysqltuner's advice: %w", err)
	}
	return p.exec.Keep(ctx, tx.ID)
}

func has(snap *evidence.Snapshot, db, variable string) bool {
	_, ok := snap.Databases[db].Variables[variable]
	return ok
}
