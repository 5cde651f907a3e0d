package digest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Forms of statement logs that people posted, with other values: %d is another number
// in each entry.
func TestReportedStatementLogs(t *testing.T) {
	const columns = `2025-03-02 10:00:0%[1]d.100 UTC,"web","shop",77,"192.0.2.1:5",51494b96.5ac0,%[1]d,"SELECT",2025-03-02 09:00:00 UTC,17/0,0,LOG,00000,`
	for name, form := range map[string]string{
		"PostgreSQL with blanks at the ends": "2025-03-02 10:00:0%[1]d.100 UTC [77]: db=shop LOG:  statement: SELECT a FROM t WHERE b = %[1]d \n" +
			"2025-03-02 10:00:0%[1]d.200 UTC [77]: db=shop LOG:  duration: 1%[1]d.500 ms \n",
		"csvlog of 8.4":               columns + `"duration: 1%[1]d.500 ms  statement: SELECT a FROM t WHERE b = %[1]d",,,,,,,,` + "\n",
		"auto_explain in XML":         "2025-03-02 10:00:0%[1]d.100 UTC [7%[1]d]: db=shop LOG:  duration: 1%[1]d.500 ms  plan:\n\t<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n\t  <Query-Text>SELECT a FROM t WHERE b = %[1]d AND c &lt; 7</Query-Text>\n\t  <Plan>\n\t    <Node-Type>Seq Scan</Node-Type>\n\t  </Plan>\n\t</explain>\n",
		"MySQL with milliseconds":     "# Time: 2025-03-02T10:00:0%[1]d.100000Z\n# User@Host: web[web] @  [192.0.2.1]  Id: 2\n# Query_time: 0.01%[1]d500  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 9  Write_Client: 0.000863\nSET timestamp=174090960%[1]d100;\nSELECT a FROM t WHERE b = %[1]d;\n",
		"MySQL with its microseconds": "# Time: 2025-03-02T10:00:0%[1]d.100000Z\n# User@Host: web[web] @  [192.0.2.1]  Id: 2\n# Query_time: 0.01%[1]d500  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 9\nSET timestamp=174090960%[1]d100000;\nSELECT a FROM t WHERE b = %[1]d;\n",
	} {
		var log strings.Builder
		for i := range 4 {
			fmt.Fprintf(&log, form, i)
		}
		s := digested(t, []byte(log.String()), StatementOptions{})
		if s.Entries != 4 || s.Bad != 0 || len(s.Classes) != 1 || s.Classes[0].Total != 48*time.Millisecond || !strings.HasPrefix(s.Classes[0].Fingerprint, "SELECT a FROM t WHERE b = ?") {
			t.Errorf("%s: %d statements, %d not understood, in %d classes: %+v", name, s.Entries, s.Bad, len(s.Classes), s.Classes)
		}
		if got := s.From.UTC().Format("2006-01-02 15:04:05"); got != "2025-03-02 10:00:00" {
			t.Errorf("%s: from %s", name, got)
		}
	}
}
