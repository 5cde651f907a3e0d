package change

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// copyUser is the account by which data is read from one server and written to
// the other, as long as that takes.
const copyUser = "kasoku_copy"

// copyTimeout bounds copying all data.
const copyTimeout = time.Hour

// copyScript runs on the host of the one that gets the data. It reads both
// passwords from its input, so that no list of processes has them; a dump that
// fails makes the load fail. What is loaded is not written to the binary log,
// since it came from the other's. With --master-data the dump says which place in
// that it is of (mariadb-dump(1), --gtid). Arguments: address, port, socket, schemas,
// whose names may begin like an option.
const copyScript = `umask 077
IFS= read -r from; IFS= read -r to
address=$1 port=$2 socket=$3; shift 3
dump=$(command -v mariadb-dump || command -v mysqldump) && load=$(command -v mariadb || command -v mysql) ||
  { echo "mariadb-dump and mariadb are needed there: install mariadb-client" >&2; exit 1; }
{ "$dump" --defaults-file=/dev/fd/3 --single-transaction --master-data=1 --gtid --routines --triggers --hex-blob --default-character-set=utf8mb4 --databases -- "$@" ||
  echo 'THE DUMP FAILED;'; } 3<<FROM |
[client]
user=` + copyUser + `
password=$from
host=$address
port=$port
FROM
"$load" --defaults-file=/dev/fd/4 --default-character-set=utf8mb4 --init-command='SET SESSION sql_log_bin = 0' 4<<TO
[client]
user=` + copyUser + `
password=$to
socket=$socket
TO
`

// copy loads a consistent dump of main into spare, and sets the place in main's
// binary log that it is of.
func (a *replicaAct) copy(ctx context.Context, main, spare *dbEnd) error {
	socket, err := spare.value(ctx, "@@socket")
	if err != nil {
		return err
	}
	h, ok := a.x.hosts[a.x.hostOf(a.c)]
	if !ok {
		return fmt.Errorf("host %q is not in the stack", a.x.hostOf(a.c))
	}
	from, to := newPassword(), newPassword()
	reader, writer := stack.AccountName(copyUser, spare.host), stack.AccountName(copyUser, "localhost")
	if err := main.exec(ctx, "CREATE USER "+reader+" IDENTIFIED BY PASSWORD '"+passwordHash(from)+"'",
		"GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, RELOAD, PROCESS, LOCK TABLES, BINLOG MONITOR ON *.* TO "+reader); err != nil {
		return err
	}
	if err := spare.exec(ctx, "CREATE USER "+writer+" IDENTIFIED BY PASSWORD '"+passwordHash(to)+"'", "GRANT ALL ON *.* TO "+writer); err != nil {
		return err
	}
	argv := append([]string{"sh", "-c", copyScript, "kasoku-copy", main.host, main.port, socket}, a.c.Replica.Schemas...)
	r, err := h.Run(ctx, host.Command{Argv: argv, Stdin: []byte(from + "\n" + to + "\n"), Timeout: copyTimeout, Keep: 4 << 10, EndGroup: true})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("exit status %d: %s", r.ExitCode, tail(r))
	}
	if err != nil {
		return fmt.Errorf("copy %s of %s to %s: %w", some(a.c.Replica.Schemas), main.service, spare.service, err)
	}
	return endCopy(ctx, main, spare)
}

// endCopy ends what copies, and takes away the accounts for it. A copy goes on in
// the server although the Kasoku that began it is gone.
func endCopy(ctx context.Context, main, spare *dbEnd) error {
	for _, e := range []*dbEnd{main, spare} {
		accounts, err := e.rows(ctx, "SELECT Host AS v FROM mysql.user WHERE User = '"+copyUser+"'")
		if err != nil {
			return err
		}
		for _, acc := range accounts {
			if err := e.exec(ctx, "DROP USER IF EXISTS "+stack.AccountName(copyUser, acc["v"])); err != nil {
				return err
			}
		}
		if err := e.endOf(ctx, copyUser); err != nil {
			return err
		}
	}
	return nil
}

// endOf ends a user's connections and waits until they are gone.
func (e *dbEnd) endOf(ctx context.Context, user string) error {
	for deadline := time.Now().Add(zombieWait * time.Second); ; {
		rows, err := e.rows(ctx, "SELECT ID AS v FROM information_schema.PROCESSLIST WHERE USER = '"+user+"'")
		if err != nil || len(rows) == 0 {
			return err
		}
		var ids []string
		for _, r := range rows {
			ids = append(ids, r["v"])
			_ = e.exec(ctx, "KILL "+r["v"]) // it may have ended by itself
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: connections %s of %s do not end; wait for them and try again", e.service, strings.Join(ids, ", "), user)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
