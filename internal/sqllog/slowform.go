package sqllog

import "bytes"

// SlowFormat tells from a slow log's first bytes which server wrote it:
// "mariadb", "mysql", "mysql 5.6", "mysql 5.7+", "mysql 8", "percona". "" if
// there is no slow log's header in them, "slow" if the header says no more.
func SlowFormat(head []byte) string {
	banner := ""
	found := false
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		switch headerKind(line) {
		case bannerHeader:
			found = true
			if bytes.Contains(line, []byte("MariaDB")) {
				return "mariadb"
			}
			if bytes.Contains(line, []byte("Percona")) {
				return "percona"
			}
			if bytes.Contains(line, []byte(", Version: ")) {
				banner = "mysql"
			}
		case timeHeader:
			found = true
			if len(line) > 12 && line[12] == '-' {
				banner = "mysql 5.7+"
			}
		case userHeader:
			found = true
			if banner != "mysql 5.7+" && lastID(line) > 0 {
				banner = "mysql 5.6"
			}
		default:
			switch {
			case !found || len(line) < 2 || line[0] != '#':
			case bytes.Contains(line, []byte(" QC_hit: ")):
				return "mariadb"
			case bytes.Contains(line, []byte(" Last_errno: ")) || bytes.Contains(line, []byte(" QC_Hit: ")):
				return "percona"
			case bytes.Contains(line, []byte(" Errno: ")):
				return "mysql 8"
			case bytes.Contains(line, []byte("Query_time: ")) && banner != "" && banner != "mysql":
				return banner
			}
		}
	}
	if found && banner == "" {
		return "slow"
	}
	return banner
}
