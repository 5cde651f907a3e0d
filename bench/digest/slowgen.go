package main

import (
	"fmt"
	"io"
)

// genSlow writes a slow log of n entries.
func genSlow(w io.Writer, n int) error {
	for i := range n {
		if _, err := fmt.Fprintf(w, "# User@Host: a[a] @ localhost []\n# Thread_id: 6  Schema: shop  QC_hit: No\n# Query_time: 0.000215  Lock_time: 0.000025  Rows_sent: 0  Rows_examined: 0\nSET timestamp=1795228076;\nselect * from t%d where id=%d;\n", i%7, i); err != nil {
			return err
		}
	}
	return nil
}
