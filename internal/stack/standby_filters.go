package stack

import (
	"context"
	"regexp"
)

// filterNames are options by which a server leaves writes out of its binary log, or
// out of what it takes from another one's (MariaDB manual, "Replication Filters").
// The position of such a write is not in the log, so nobody could see it missing.
var filterNames = regexp.MustCompile(`^(binlog_(do|ignore)_db|replicate_(wild_)?(do|ignore|rewrite)_(db|table))$`)

// FiltersReplication reports whether an option of a server, spelled with _, is such
// a filter.
func FiltersReplication(option string) bool { return filterNames.MatchString(option) }

// filtered says which filters a server has; "" if none. Those of the binary log are
// in SHOW MASTER STATUS alone, which is empty where there is no log.
func filtered(ctx context.Context, db querying) (string, error) {
	found, err := texts(ctx, db, `SELECT CONCAT(LOWER(VARIABLE_NAME), ' = ', VARIABLE_VALUE) FROM information_schema.GLOBAL_VARIABLES
		WHERE VARIABLE_NAME REGEXP '^REPLICATE_(WILD_)?(DO|IGNORE|REWRITE)_' AND VARIABLE_VALUE <> '' ORDER BY 1`)
	if err != nil {
		return "", err
	}
	logs, err := table(ctx, db, "SHOW MASTER STATUS")
	if err != nil {
		return "", err
	}
	for _, row := range logs { // File, Position, Binlog_Do_DB, Binlog_Ignore_DB
		for i, name := range []string{"binlog_do_db", "binlog_ignore_db"} {
			if len(row) > 2+i && row[2+i] != "" {
				found = append(found, name+" = "+row[2+i])
			}
		}
	}
	if len(found) == 0 {
		return "", nil
	}
	return "leaves writes out of replication (" + few(found) + "), so that they would be lost; take that out of its configuration and restart it", nil
}
