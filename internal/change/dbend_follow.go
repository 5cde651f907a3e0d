package change

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"kasoku/internal/stack"
)

// follows reports whether it replicates from the other one; an error if from
// somebody else.
func (e *dbEnd) follows(ctx context.Context, other *dbEnd) (bool, error) {
	rows, err := e.rows(ctx, "SHOW SLAVE STATUS")
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if r := rows[0]; r["Master_Host"] != other.host || r["Master_Port"] != other.port || r["Master_User"] != stack.ReplicaUser {
		return false, fmt.Errorf("%s: %w: it follows %s:%s, which is not %s", e.service, ErrChanged, r["Master_Host"], r["Master_Port"], other.service)
	}
	return true, nil
}

// catchUp waits until it has all that the other, which it follows, had when asked.
func (e *dbEnd) catchUp(ctx context.Context, other *dbEnd) error {
	pos, err := other.position(ctx)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(followWait); ; {
		got, err := e.value(ctx, fmt.Sprintf("MASTER_GTID_WAIT('%s', 0.5)", pos))
		if err != nil || got == "0" {
			return err
		}
		rows, err := e.rows(ctx, "SHOW SLAVE STATUS")
		if err != nil {
			return err
		}
		if why := e.stopped(rows, other); why != "" {
			return errors.New(why)
		}
		if time.Now().After(deadline) {
			why := ""
			if len(rows) > 0 {
				why = ": " + Redact(rows[0]["Last_IO_Error"])
			}
			return fmt.Errorf("%s does not get what %s has within %s%s", e.service, other.service, followWait, why)
		}
	}
}

// tooOld is the error of a follower whose place is not in the other's binary log.
const tooOld = "1236"

// stopped says why a follower that is no longer at work does not go on by itself,
// and what to do; "" if it does. One that merely cannot reach the other tries again.
func (e *dbEnd) stopped(rows []map[string]string, other *dbEnd) string {
	if len(rows) == 0 {
		return e.service + " follows nobody"
	}
	r := rows[0]
	io, sql := r["Slave_IO_Running"] == "No", r["Slave_SQL_Running"] == "No"
	switch {
	case sql && r["Last_SQL_Errno"] != "0":
		return fmt.Sprintf("%s cannot do what %s did: error %s: %s; do by hand on %s what that statement lacks (an account: make it), then START SLAVE there",
			e.service, other.service, r["Last_SQL_Errno"], Redact(r["Last_SQL_Error"]), e.service)
	case io && r["Last_IO_Errno"] == tooOld:
		return fmt.Sprintf("%s cannot follow %s from where it is: error %s: %s; only a new copy of %s's data brings its writes to %s (mariadb-dump --single-transaction --master-data --gtid)",
			e.service, other.service, tooOld, Redact(r["Last_IO_Error"]), other.service, e.service)
	case io && r["Last_IO_Errno"] != "0":
		return fmt.Sprintf("%s cannot follow %s: error %s: %s; mend that, then START SLAVE on %s", e.service, other.service, r["Last_IO_Errno"], Redact(r["Last_IO_Error"]), e.service)
	case io || sql:
		return fmt.Sprintf("%s does not go on following %s: somebody has stopped it, or a crash took its relay logs; START SLAVE there, and if that fails, RESET SLAVE and START SLAVE", e.service, other.service)
	}
	return ""
}

// halted is stopped, asked now.
func (e *dbEnd) halted(ctx context.Context, other *dbEnd) (string, error) {
	rows, err := e.rows(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return "", err
	}
	return e.stopped(rows, other), nil
}

// unfollow stops replication. What it got stays.
func (e *dbEnd) unfollow(ctx context.Context) error {
	return e.exec(ctx, "STOP SLAVE", "RESET SLAVE ALL")
}

// follow makes it replicate from the other, from what it has, with a password
// that nobody knew before and that only the follower keeps.
func (e *dbEnd) follow(ctx context.Context, other *dbEnd) error {
	password := newPassword()
	account := stack.AccountName(stack.ReplicaUser, e.host)
	pos, err := e.position(ctx)
	if err != nil {
		return err
	}
	if pos != "" {
		if now, err := e.value(ctx, "@@GLOBAL.gtid_slave_pos"); err != nil {
			return err
		} else if now != pos {
			if err := e.exec(ctx, "SET GLOBAL gtid_slave_pos = '"+pos+"'"); err != nil {
				return err
			}
		}
	}
	if err := other.exec(ctx, "ALTER USER "+account+" IDENTIFIED BY PASSWORD '"+passwordHash(password)+"'"); err != nil {
		return err
	}
	if err := e.exec(ctx, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1, MASTER_HEARTBEAT_PERIOD = 2",
		other.host, other.port, stack.ReplicaUser, password), "START SLAVE"); err != nil {
		return err
	}
	return e.linked(ctx, other)
}

// linked waits until replication runs.
func (e *dbEnd) linked(ctx context.Context, other *dbEnd) error {
	for deadline := time.Now().Add(linkWait); ; {
		rows, err := e.rows(ctx, "SHOW SLAVE STATUS")
		if err != nil {
			return err
		}
		if len(rows) > 0 && rows[0]["Slave_IO_Running"] == "Yes" && rows[0]["Slave_SQL_Running"] == "Yes" {
			return nil
		}
		if time.Now().After(deadline) || len(rows) == 0 || rows[0]["Slave_IO_Running"] == "No" && rows[0]["Last_IO_Errno"] != "0" {
			why := "it does not replicate"
			if len(rows) > 0 {
				why = Redact(strings.TrimSpace(rows[0]["Last_IO_Error"] + " " + rows[0]["Last_SQL_Error"]))
			}
			return fmt.Errorf("%s cannot follow %s at %s: %s; let it listen there for the other's host", e.service, other.service, net.JoinHostPort(other.host, other.port), why)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
