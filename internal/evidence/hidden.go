package evidence

import (
	"fmt"
	"strconv"
	"time"
)

const (
	// slowRun is a run of a statement whose time needs a reason.
	slowRun = time.Millisecond
	// slowRow is more than a row takes that is in memory: 0.3 to 7 µs with MariaDB 10.11,
	// scanned or fetched.
	slowRow = 20 * time.Microsecond
)

// Hidden tells work that the rows examined do not show. slow: a run of the statement takes
// more than its rows explain, locks apart. entries is then how many entries of an index its
// plan expects to look at in each run with a condition that is pushed into the index: the
// server does not count as examined what that turns down (Handler_icp_attempts). Nor does it
// count the entries of several indexes that it compares (PlanTable.Intersected), and no plan
// tells how many they are: entries is then how many rows take as long at least. 0: none, or
// no plan is known.
func Hidden(s Statement) (entries int64, slow bool) {
	if s.Count <= 0 {
		return 0, false
	}
	each, rows := (s.Total-s.LockTime)/time.Duration(s.Count), max(s.RowsExamined, s.RowsSent)/s.Count
	if each < slowRun || each < slowRow*time.Duration(rows+1) {
		return 0, false
	}
	for _, t := range Plan(s.Explain) {
		if len(t.Intersected) > 0 {
			entries = max(entries, int64(each/slowRow))
		}
		if n, err := strconv.ParseFloat(fmt.Sprint(t.Rows), 64); t.Pushed && err == nil {
			entries = max(entries, int64(n))
		}
	}
	return entries, true
}
