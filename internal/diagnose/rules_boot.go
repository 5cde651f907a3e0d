package diagnose

import (
	"fmt"
	"strings"
)

// poolWarm are the variables by which InnoDB remembers which pages its pool
// held and reads them again (MariaDB Knowledge Base, "InnoDB Buffer Pool
// Dump/Restore": ON by default since 10.2.2; MySQL manual, 17.8.3.6 "Saving and
// Restoring the Buffer Pool State": since 5.7).
var poolWarm = []string{"innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"}

// poolShare is how much of each pool's list is kept, per cent: 25 by default
// (MariaDB Knowledge Base and MySQL manual, innodb_buffer_pool_dump_pct).
const poolShare = "innodb_buffer_pool_dump_pct"

// judgePoolCold: after each restart the pool begins empty (W16). That only a
// part of it is kept is told where a reboot was seen to leave caches cold.
func judgePoolCold(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		var off []string
		f := Finding{}
		for _, name := range poolWarm {
			now, known := fold(v.db.Variables, name)
			if known && (strings.EqualFold(now, "OFF") || now == "0") {
				off = append(off, name+": OFF")
				f = f.asks(Setting{Service: v.svc.Name, Name: name, Now: now, To: "ON"})
			}
		}
		pool, _ := v.variable("innodb_buffer_pool_size")
		lost := min(v.db.DataBytes, int64(pool))
		if share, known := v.variable(poolShare); known && share < 100 && m.in.Reboot.Cold() {
			if len(off) == 0 {
				lost = int64(float64(lost) * (1 - share/100))
			}
			off = append(off, fmt.Sprintf("%s: %.0f", poolShare, share))
			f = f.asks(Setting{Service: v.svc.Name, Name: poolShare, Now: fmt.Sprintf("%.0f", share), To: "100", Up: 1})
		}
		if len(off) == 0 || v.db.DataBytes <= 0 {
			return nil
		}
		settings := f.Settings
		f = about(v.svc.Name, v.svc.Name+" begins with an empty buffer pool after each restart",
			fmt.Sprintf("%s. Up to %s are then read page by page as statements ask for them; a list of the pages, kept at shutdown, lets them be read in order while the server begins.", strings.Join(off, ", "), size(lost)),
			"variables of "+v.svc.Name)
		return []Finding{f.asks(settings...).bounded(m.boundWait())}
	})
}
