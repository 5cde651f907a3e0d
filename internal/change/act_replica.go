package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

// Replica makes a database a copy of another one, which it then follows. It has no
// data of its own before, and none after it is put back. Its server must be set
// for it already: a binary log on both, and read-only on this one.
type Replica struct {
	Main string `json:"main"` // service whose data it gets
	// Where each is reached from the other's host.
	Address     string `json:"address"`
	MainAddress string `json:"main_address"`
	// Clients are the addresses that applications connect from: accounts are made
	// for these alone.
	Clients []string `json:"clients"`
	// OwnLog: the other's binary log is there for this only, and emptied after.
	OwnLog bool `json:"own_log,omitempty"`
	// Schemas that are copied and Accounts that are made. The executor fills
	// them in.
	Schemas  []string  `json:"schemas,omitempty"`
	Accounts []Account `json:"accounts,omitempty"`
}

// Account of a database server, made like another one of the same user.
type Account struct {
	User string `json:"user"`
	Host string `json:"host"`
	Like string `json:"like"` // host of the one that it is like
	// Both: it is made on the server that is copied, too, so that statements about it
	// on either can be done on the other. Not where that has accounts of the user for
	// other hosts than itself: clients that those let in would get this one instead.
	Both bool `json:"both,omitempty"`
}

func (r *Replica) title(service string) string {
	if r == nil {
		return "copy a database (none given)"
	}
	return "copy the data of " + r.Main + " to " + service + ", and let it follow"
}

// replicaAct copies a database. Passwords and their hashes go from one server to
// the other and are kept nowhere.
type replicaAct struct{ work }

func (a *replicaAct) prepare(ctx context.Context) ([][]byte, error) {
	r := a.c.Replica
	if r == nil || r.Main == "" || a.c.Service == "" || r.Main == a.c.Service || len(r.Clients) == 0 {
		return nil, fmt.Errorf("%s: it needs two databases and those who use them", a.c.Title())
	}
	n := *r
	r, a.c.Replica = &n, &n
	main, spare, err := a.ends(ctx)
	if err != nil {
		return nil, err
	}
	defer main.close()
	defer spare.close()
	if why, err := stack.Uncarriable(ctx, main.conn); err != nil || why != "" {
		return nil, refusal(a.c, r.Main, why, err)
	}
	if why, err := stack.Unfit(ctx, main.conn, spare.conn); err != nil || why != "" {
		return nil, refusal(a.c, a.c.Service, why, err)
	}
	if err := a.set(ctx, main, spare); err != nil {
		return nil, err
	}
	if r.Schemas, err = stack.UserSchemas(ctx, main.conn); err != nil {
		return nil, refusal(a.c, r.Main, "", err)
	}
	carried, why, err := stack.CarriedAccounts(ctx, main.conn)
	if err != nil || why != "" {
		return nil, refusal(a.c, r.Main, why, err)
	}
	r.Accounts = nil
	for _, acc := range carried {
		for _, client := range r.Clients {
			r.Accounts = append(r.Accounts, Account{User: acc.User, Host: client, Like: acc.Host})
		}
	}
	return nil, a.free(ctx, main, spare)
}

// free fails if the spare has an account already that is to be made: it would go
// when the copy is taken away. It finds out which are to be made on both.
func (a *replicaAct) free(ctx context.Context, main, spare *dbEnd) error {
	const all = "SELECT User, Host FROM mysql.user"
	there, err := spare.rows(ctx, all)
	if err != nil {
		return err
	}
	like, err := main.rows(ctx, all)
	if err != nil {
		return err
	}
	for i := range a.c.Replica.Accounts {
		acc := &a.c.Replica.Accounts[i]
		if slices.ContainsFunc(there, func(r map[string]string) bool { return r["User"] == acc.User && r["Host"] == acc.Host }) {
			name := stack.AccountName(acc.User, acc.Host)
			return fmt.Errorf("%s: %s has an account %s of its own, which would become one like that of %s; drop it there (DROP USER %s), or take another server", a.c.Title(), spare.service, name, a.c.Replica.Main, name)
		}
		acc.Both = !slices.ContainsFunc(like, func(r map[string]string) bool {
			return r["User"] == acc.User && (r["Host"] == acc.Host || !slices.Contains(itself, r["Host"]))
		})
	}
	return nil
}

// itself are the hosts of accounts that log in from the server's own host.
var itself = []string{"localhost", "127.0.0.1", "::1"}

func refusal(c *Change, service, why string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.Title(), service, unreachable(err))
	}
	return fmt.Errorf("%s: %s %s", c.Title(), service, why)
}

// set fails if the servers are not set for it.
func (a *replicaAct) set(ctx context.Context, main, spare *dbEnd) error {
	ids := map[string]bool{}
	for _, e := range []*dbEnd{main, spare} {
		// Whether one follows the other is what the guards decide by, so that it
		// must be on disk before the other takes writes (sync_master_info).
		for what, must := range map[string]string{"@@log_bin": "1", "@@log_slave_updates": "1", "@@sync_master_info": "1"} {
			if v, err := e.value(ctx, what); err != nil || v != must {
				return errors.Join(err, fmt.Errorf("%s: %s of %s is %s, and must be %s", a.c.Title(), what, e.service, v, must))
			}
		}
		id, err := e.value(ctx, "@@server_id")
		if err != nil {
			return err
		}
		ids[id] = true
	}
	held, err := spare.readOnly(ctx)
	switch {
	case err != nil:
		return err
	case len(ids) != 2:
		return fmt.Errorf("%s: both have the same server_id", a.c.Title())
	case !held:
		return fmt.Errorf("%s: %s is not read-only", a.c.Title(), a.c.Service)
	}
	return nil
}

func (a *replicaAct) ends(ctx context.Context) (main, spare *dbEnd, err error) {
	r := a.c.Replica
	if main, err = a.end(ctx, r.Main, r.MainAddress); err != nil {
		return nil, nil, err
	}
	if spare, err = a.end(ctx, a.c.Service, r.Address); err != nil {
		main.close()
		return nil, nil, err
	}
	return main, spare, nil
}

func (a *replicaAct) look(ctx context.Context) (sight, error) {
	main, spare, err := a.ends(ctx)
	if err != nil {
		return sight{}, err
	}
	defer main.close()
	defer spare.close()
	on, err := spare.follows(ctx, main)
	if err != nil {
		return sight{}, err
	}
	back, err := main.follows(ctx, spare)
	if err != nil {
		return sight{}, err
	}
	schemas, err := stack.UserSchemas(ctx, spare.conn)
	if err != nil {
		return sight{}, unreachable(err)
	}
	accounts := 0
	for _, e := range []*dbEnd{main, spare} {
		n, err := e.rows(ctx, "SELECT User FROM mysql.user WHERE User IN ('"+stack.ReplicaUser+"', '"+copyUser+"')")
		if err != nil {
			return sight{}, err
		}
		accounts += len(n)
	}
	s := sight{before: !on && !back && len(schemas) == 0 && accounts == 0, after: on || back}
	switch {
	case s.before:
		s.got = "no copy"
	case s.after:
		s.got = "a copy that follows"
		if on {
			s.attrs, err = spare.halted(ctx, main)
		}
	default:
		s.got = fmt.Sprintf("a copy that does not follow (%d schemas, %d accounts of Kasoku's)", len(schemas), accounts)
	}
	return s, err
}

// claim: what does not follow is an unfinished copy if it has nothing but what was
// to be copied.
func (a *replicaAct) claim(ctx context.Context, s sight) (sight, error) {
	main, spare, err := a.ends(ctx)
	if err != nil {
		return s, err
	}
	defer main.close()
	defer spare.close()
	has, err := stack.UserSchemas(ctx, spare.conn)
	if err != nil {
		return s, unreachable(err)
	}
	copied, err := a.copied(ctx, main)
	s.after = !slices.ContainsFunc(has, func(name string) bool { return !slices.Contains(copied, name) })
	return s, err
}

// copied are the schemas that the spare may have from main: those of the time of
// the copy, and what was made since, which followed.
func (a *replicaAct) copied(ctx context.Context, main *dbEnd) ([]string, error) {
	now, err := stack.UserSchemas(ctx, main.conn)
	if err != nil {
		return nil, unreachable(err)
	}
	all := append(slices.Clone(a.c.Replica.Schemas), now...)
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (a *replicaAct) write(ctx context.Context) (string, error) {
	main, spare, err := a.ends(ctx)
	if err != nil {
		return "", err
	}
	defer main.close()
	defer spare.close()
	step := func(what string) { a.x.step(a.t, "change%d.replica.%s", a.i, what) }
	step("accounts")
	// What the server has written so far is of its installation.
	if err := spare.exec(ctx, "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''"); err != nil {
		return "", err
	}
	for _, pair := range [][2]*dbEnd{{main, spare}, {spare, main}} {
		// With a password that nobody has: each turn sets one.
		at := stack.AccountName(stack.ReplicaUser, pair[1].host)
		if err := pair[0].exec(ctx, "CREATE USER "+at+" IDENTIFIED BY PASSWORD '"+passwordHash(newPassword())+"'", "GRANT REPLICATION SLAVE ON *.* TO "+at); err != nil {
			return "", err
		}
	}
	step("copy")
	if err := a.copy(ctx, main, spare); err != nil {
		return "", err
	}
	step("clients")
	if err := a.makeAccounts(ctx, main, spare); err != nil {
		return "", err
	}
	step("follow")
	if err := spare.follow(ctx, main); err != nil {
		return "", err
	}
	step("catchup")
	return "", spare.catchUp(ctx, main)
}

// each does something on the servers that have the account.
func (acc *Account) each(main, spare *dbEnd, do func(*dbEnd) error) error {
	if err := do(spare); err != nil || !acc.Both {
		return err
	}
	return do(main)
}

// makeAccounts makes those of Replica.Accounts.
func (a *replicaAct) makeAccounts(ctx context.Context, main, spare *dbEnd) error {
	for _, acc := range a.c.Replica.Accounts {
		like, name := stack.AccountName(acc.User, acc.Like), stack.AccountName(acc.User, acc.Host)
		quoted := "`" + acc.User + "`@`" + acc.Like + "`"
		for _, show := range []string{"SHOW CREATE USER ", "SHOW GRANTS FOR "} {
			rows, err := main.rows(ctx, show+like)
			if err != nil {
				return err
			}
			for _, row := range rows {
				for _, statement := range row { // the only column
					at := strings.Index(statement, quoted)
					if at < 0 {
						return fmt.Errorf("%s: %s%s does not name the account as expected", main.service, show, like)
					}
					statement = statement[:at] + name + statement[at+len(quoted):]
					if err := acc.each(main, spare, func(e *dbEnd) error { return e.exec(ctx, statement) }); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// sweep ends what a killed Kasoku left running.
func (a *replicaAct) sweep(ctx context.Context) error {
	main, spare, err := a.ends(ctx)
	if err != nil {
		return err
	}
	defer main.close()
	defer spare.close()
	return endCopy(ctx, main, spare)
}

// restore takes the copy away. It refuses where it could be the only one of a
// write.
func (a *replicaAct) restore(ctx context.Context) error {
	main, spare, err := a.ends(ctx)
	if err != nil {
		return err
	}
	defer main.close()
	defer spare.close()
	heldMain, err := main.readOnly(ctx)
	if err != nil {
		return err
	}
	heldSpare, err := spare.readOnly(ctx)
	if err != nil {
		return err
	}
	if back, err := main.follows(ctx, spare); err != nil || back || heldMain || !heldSpare {
		return errors.Join(err, fmt.Errorf("the copy in %s stays, because it is what is written to (%s is %s, %s is %s); the switch must be put back first",
			spare.service, spare.service, writable(heldSpare), main.service, writable(heldMain)))
	}
	step := func(what string) { a.x.step(a.t, "change%d.undo.replica.%s", a.i, what) }
	step("unfollow")
	if err := spare.unfollow(ctx); err != nil {
		return err
	}
	if err := endCopy(ctx, main, spare); err != nil {
		return err
	}
	step("drop")
	schemas, err := a.copied(ctx, main)
	if err != nil {
		return err
	}
	for _, schema := range schemas {
		if err := spare.exec(ctx, "DROP DATABASE IF EXISTS `"+strings.ReplaceAll(schema, "`", "``")+"`"); err != nil {
			return err
		}
	}
	for _, acc := range a.c.Replica.Accounts {
		drop := "DROP USER IF EXISTS " + stack.AccountName(acc.User, acc.Host)
		if err := acc.each(main, spare, func(e *dbEnd) error { return e.exec(ctx, drop) }); err != nil {
			return err
		}
	}
	step("accounts")
	if err := spare.exec(ctx, "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''", "DROP USER IF EXISTS "+stack.AccountName(stack.ReplicaUser, main.host)); err != nil {
		return err
	}
	if err := a.emptyLog(ctx, main); err != nil {
		return err
	}
	return main.exec(ctx, "DROP USER IF EXISTS "+stack.AccountName(stack.ReplicaUser, spare.host))
}

// emptyLog empties the log that is there for replication only, unless its host's
// guard has ended it already.
func (a *replicaAct) emptyLog(ctx context.Context, main *dbEnd) error {
	if !a.c.Replica.OwnLog { // it has followed nobody but the spare
		return nil
	}
	logs, err := main.value(ctx, "@@log_bin")
	if err == nil && logs == "1" {
		err = main.exec(ctx, "RESET MASTER")
	}
	if err != nil {
		return err
	}
	return main.exec(ctx, "SET GLOBAL gtid_slave_pos = ''")
}

func (a *replicaAct) conflict(s sight) *ConflictError {
	return a.differs("no copy", "a copy that follows", s.got)
}
