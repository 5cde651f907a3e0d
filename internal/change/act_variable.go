package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// variableAct sets a server variable at run time.
type variableAct struct{ work }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// setRetry is how long SET GLOBAL is tried again while the server is still
// busy with the last change (resizing the buffer pool).
const setRetry = 60 * time.Second

func (a *variableAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	if !variableName.MatchString(c.Variable) || c.Service == "" {
		return nil, fmt.Errorf("set variable %q of %q: it needs a variable's name and a service", c.Variable, c.Service)
	}
	now, err := a.value(ctx)
	if err != nil {
		return nil, err
	}
	if c.BeforeValue != "" && !equalValues(now, c.BeforeValue) {
		return nil, fmt.Errorf("%s: %w: it is %q, the plan saw %q", a.subject(), ErrChanged, now, c.BeforeValue)
	}
	c.BeforeValue, c.Reported = now, ""
	return nil, nil
}

// value reads the variable as the server prints it.
func (a *variableAct) value(ctx context.Context) (string, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return "", err
	}
	defer s.close()
	return a.valueIn(ctx, s)
}

func (a *variableAct) valueIn(ctx context.Context, s *session) (string, error) {
	var name, value string
	err := s.conn.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name = "+quoteString(strings.ToLower(a.c.Variable))).Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("%s: this server has no such variable", a.subject())
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", a.subject(), unreachable(err))
	}
	return value, nil
}

func (a *variableAct) look(ctx context.Context) (sight, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return sight{}, err
	}
	defer s.close()
	now, err := a.valueIn(ctx, s)
	if err != nil {
		return sight{}, err
	}
	return a.see(now), nil
}

// claim decides about a value that is neither before nor after, for undo: it
// is ours if the server was restarted for this transaction and took the value
// from its files, or if Kasoku was killed between SET and the note of what the
// server made of the value. Setting it again tells: the same rounding gives
// the same value.
func (a *variableAct) claim(ctx context.Context, v sight) (sight, error) {
	if a.t.activating[a.x.runner(a.c.Service)] == Restart {
		v.after = true
	}
	if v.after || a.t.progress[a.i].applied {
		return v, nil
	}
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return v, err
	}
	defer s.close()
	v.after, err = a.isOurs(ctx, s, v.got)
	return v, err
}

// see compares a value with before and after.
func (a *variableAct) see(now string) sight {
	s := sight{got: now, before: equalValues(now, a.c.BeforeValue)}
	if a.c.Reported != "" {
		s.after = equalValues(now, a.c.Reported)
	} else {
		s.after = equalValues(now, a.c.AfterValue)
	}
	return s
}

// isOurs reports whether now is what the server makes of AfterValue. If not,
// now is set again.
func (a *variableAct) isOurs(ctx context.Context, s *session, now string) (bool, error) {
	if err := a.set(ctx, s, a.c.AfterValue); mysqlNumber(err) != 0 {
		return false, nil // the server refuses it, so it is not from there
	} else if err != nil {
		return false, err
	}
	made, err := a.valueIn(ctx, s)
	if err != nil || equalValues(made, now) {
		return err == nil, err
	}
	return false, a.set(ctx, s, now)
}

func (a *variableAct) write(ctx context.Context) (string, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return "", err
	}
	defer s.close()
	if err := a.set(ctx, s, a.c.AfterValue); err != nil {
		return "", err
	}
	made, err := a.valueIn(ctx, s)
	if err != nil {
		return "", err
	}
	if equalValues(made, a.c.BeforeValue) && !equalValues(a.c.AfterValue, a.c.BeforeValue) {
		return "", fmt.Errorf("%s: the server accepted %s but still reports %q", a.subject(), quoteValue(a.c.AfterValue), made)
	}
	return made, nil
}

func (a *variableAct) restore(ctx context.Context) error {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return err
	}
	defer s.close()
	return a.set(ctx, s, a.c.BeforeValue)
}

// set sets the value. While the buffer pool is being resized the server
// refuses to resize it again, so that is tried until it is done.
func (a *variableAct) set(ctx context.Context, s *session, value string) error {
	deadline := time.Now().Add(setRetry)
	for {
		err := a.setOnce(ctx, s, value)
		if err == nil || !strings.Contains(err.Error(), "already in progress") || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("set %s: %w", a.subject(), ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (a *variableAct) setOnce(ctx context.Context, s *session, value string) error {
	statement := "SET GLOBAL " + a.c.Variable + " = "
	_, err := s.conn.ExecContext(ctx, statement+quoteValue(value))
	// 1232: incorrect argument type. A text that looks like a number, or a
	// number that does not.
	if mysqlNumber(err) == 1232 && quoteValue(value) != quoteString(value) {
		_, err = s.conn.ExecContext(ctx, statement+quoteString(value))
	}
	if err != nil {
		return fmt.Errorf("set %s to %s: %w", a.subject(), quoteValue(value), unreachable(err))
	}
	return nil
}

func (a *variableAct) conflict(s sight) *ConflictError {
	after := a.c.AfterValue
	if a.c.Reported != "" {
		after = a.c.Reported
	}
	return a.differs(strconv.Quote(a.c.BeforeValue), strconv.Quote(after), strconv.Quote(s.got))
}

// equalValues compares values as the server prints them: ON is 1, 10 is
// 10.000000. Other values are compared byte for byte.
func equalValues(a, b string) bool {
	x, y := switchValue(a), switchValue(b)
	if x == y {
		return true
	}
	// Whole numbers exactly (up to 2^64), the rest as floating point.
	if !number.MatchString(x) || !number.MatchString(y) {
		return false
	}
	if !strings.Contains(x+y, ".") {
		return strings.TrimLeft(x, "0") == strings.TrimLeft(y, "0")
	}
	f, err1 := strconv.ParseFloat(x, 64)
	g, err2 := strconv.ParseFloat(y, 64)
	return err1 == nil && err2 == nil && f == g
}

func switchValue(s string) string {
	switch strings.ToUpper(s) {
	case "ON", "TRUE":
		return "1"
	case "OFF", "FALSE":
		return "0"
	}
	return s
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// quoteValue prints a value as SET takes it: numbers and ON/OFF bare, all
// else as a string.
func quoteValue(v string) string {
	if number.MatchString(v) {
		return v
	}
	if v == "ON" || v == "OFF" {
		return v
	}
	return quoteString(v)
}

// quoteString quotes for a server in its default sql_mode.
func quoteString(v string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`, "\n", `\n`, "\r", `\r`).Replace(v) + "'"
}
