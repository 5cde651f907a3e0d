// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
)

// levels are isolation levels as the server calls them.
var levels = map[string]sql.IsolationLevel{
	"READ-UNCOMMITTED": sql.LevelReadUncommitted,
	"READ-COMMITTED":   sql.LevelReadCommitted,
	"REPEATABLE-READ":  sql.LevelRepeatableRead,
	"SERIALIZABLE":     sql.LevelSerializable,
}

// check asks a new connection's server what rules depend on. A server that does not
// understand the question is none that rules are for.
func (c *conn) check(ctx context.Context) {
	c.stable = make([]bool, len(c.rules.targets))
	rows, err := c.texts(ctx, "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')")
	for _, r := range rows {
		if len(r) == 2 {
			c.level = levels[strings.ToUpper(r[1])]
		}
	}
	if err != nil || c.level == sql.LevelDefault {
		c.off = true
		return
	}
	var names []string
	for _, t := range c.rules.targets {
		names = append(names, "'"+t.table+"'")
	}
	rows, err = c.texts(ctx, "SELECT table_name, table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND engine = 'InnoDB' AND table_name IN ("+strings.Join(names, ", ")+")")
	if err != nil {
		c.off = true
		return
	}
	for i, t := range c.rules.targets {
		for _, r := range rows {
			c.stable[i] = c.stable[i] || r[0] == t.table
		}
	}
}

// texts asks the driver's own connection.
func (c *conn) texts(ctx context.Context, query string) ([][]string, error) {
	rows, err := c.direct(ctx, query, nil)
	if err == driver.ErrSkip {
		rows, err = c.asPrepared(ctx, query, nil)
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]string
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(dest); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		row := make([]string, len(dest))
		for i, v := range dest {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			row[i] = fmt.Sprint(v)
		}
		out = append(out, row)
	}
}
