package sqllog

import (
	"bytes"
	"strings"
)

// slowShape is the form of an entry's header, for comparison.
type slowShape struct {
	times   []byte // the "# Query_time:" line
	clock   []byte // the "# Time:" line
	stamp   int64  // of SET timestamp
	stamped bool   // there was one
}

var (
	timesPrefix   = []byte("# Query_time: ")
	commandPrefix = []byte("# administrator command: ")
)

// note keeps the line that names the times.
func (h *slowShape) note(s []byte) {
	switch bare := bytes.TrimLeft(s, " \t"); {
	case len(h.times) > 0: // a later one is text
	case bytes.HasPrefix(s, timesPrefix):
		h.times = append(h.times[:0], s[:min(len(s), 1024)]...)
	case bytes.HasPrefix(bare, timesPrefix[2:]):
		h.times = append(append(h.times[:0], "# "...), bare[:min(len(bare), 1024)]...)
	}
}

// groupLines of one header: MariaDB writes up to a dozen, with the plan of the
// statement (log_slow_verbosity=explain) one more for each of its tables.
const groupLines = 100

// group tells whether the lines from at on are a whole header of the form of
// the present entry's, and its time not before that one's.
func (d *slowDivider) group(at int) verdict {
	var h slowShape
	user := false
	for n := 0; n < groupLines; n++ {
		end, next := lineEnd(d.buf, at)
		if end < 0 {
			if !d.eof {
				if len(d.buf)-at > longLine {
					return no
				}
				return needMore
			}
			end, next = len(d.buf), len(d.buf)
		}
		if end == at {
			return no
		}
		s := trimEnd(d.buf[at:end])
		kind := lineKind(s)
		switch {
		case kind == bannerHeader:
			return sure
		case kind == timeHeader && n == 0:
			user = bytes.Contains(s, userPrefix)
			h.clock = s
		case kind == userHeader && !user:
			user = true
		case kind != notHeader || !user:
			return no
		case s[0] == '#' || bareFields(s):
			h.note(s)
		case isUseLine(s):
		default:
			h.stamp, h.stamped = slowSet(s)
			return verdict(btoi(d.header.like(&h)))
		}
		if at = next; at >= len(d.buf) && d.eof {
			return verdict(btoi(!d.header.stamped && d.header.like(&h)))
		}
	}
	return no
}

// like: the same server wrote both, o not before h.
func (h *slowShape) like(o *slowShape) bool {
	if len(o.times) == 0 || h.stamped != o.stamped || len(h.times) > 0 && !sameForm(h.times, o.times) {
		return false
	}
	if len(o.clock) == 0 && len(h.clock) > len(timePrefix)+4 && h.clock[len(timePrefix)+4] == '-' {
		return false // MySQL from 5.7 on writes the time for each entry
	}
	if len(h.clock) > 0 && sameForm(h.clock, o.clock) && bytes.Compare(o.clock, h.clock) < 0 {
		return false
	}
	took := slowSeconds(firstValue(o.times))
	return !h.stamped || o.stamp+int64(took.Seconds())+1 >= h.stamp
}

// firstValue of "# Query_time: 0.1  Lock_time: …".
func firstValue(times []byte) []byte {
	value, _, _ := bytes.Cut(bytes.TrimLeft(times[len(timesPrefix):], " "), []byte(" "))
	return value
}

// sameForm: the lines differ in numbers only; those after a point have as many
// digits.
func sameForm(a, b []byte) bool {
	for len(a) > 0 && len(b) > 0 {
		n, m := digits(a), digits(b)
		switch {
		case n == 0 && m == 0:
			if a[0] != b[0] {
				return sameWords(a, b)
			}
			if a[0] == '.' && digits(a[1:]) != digits(b[1:]) {
				return false
			}
			n, m = 1, 1
		case n == 0 || m == 0:
			return false
		}
		a, b = a[n:], b[m:]
	}
	return len(a) == len(b)
}

// sameWords goes on after Yes and No.
func sameWords(a, b []byte) bool {
	n, m := letters(a), letters(b)
	if n == 0 || m == 0 {
		return false
	}
	return sameForm(a[n:], b[m:])
}

func digits(s []byte) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func letters(s []byte) int {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// bareFields: "  Tmp_tables: 1  Tmp_disk_tables: 2", a header line without its
// "#". Percona Server 8.0 writes such (PS-7492).
func bareFields(s []byte) bool {
	rest := bytes.TrimLeft(s, " \t")
	pairs := 0
	for len(rest) > 0 {
		key, after, found := bytes.Cut(rest, []byte(": "))
		if !found || slowKeys[string(key)] == 0 {
			return false
		}
		value, next, _ := bytes.Cut(bytes.TrimLeft(after, " "), []byte(" "))
		if len(value) == 0 {
			return false
		}
		pairs++
		rest = bytes.TrimLeft(next, " \t")
	}
	return pairs > 0
}

// slowKeys are the names of values in headers, of MySQL with log_slow_extra,
// MariaDB and Percona Server with any log_slow_verbosity, numbered from 1.
var slowKeys = numbered(`Query_time Lock_time Rows_sent Rows_examined Rows_affected Rows_read Bytes_sent Bytes_received
	Thread_id Schema Last_errno Errno Killed QC_hit QC_Hit Tmp_tables Tmp_disk_tables Tmp_table_sizes Full_scan Full_join
	Tmp_table Tmp_table_on_disk Filesort Filesort_on_disk Merge_passes Priority_queue InnoDB_trx_id InnoDB_IO_r_ops
	InnoDB_IO_r_bytes InnoDB_IO_r_wait InnoDB_rec_lock_wait InnoDB_queue_wait InnoDB_pages_distinct Log_slow_rate_type
	Log_slow_rate_limit Stored_routine Read_first Read_last Read_key Read_next Read_prev Read_rnd
	Read_rnd_next Sort_merge_passes Sort_range_count Sort_rows Sort_scan_count Created_tmp_disk_tables
	Created_tmp_tables Start End Pages_accessed Pages_read Pages_prefetched Pages_updated Old_rows_read Pages_read_time
	Engine_time Prefetched_pages Warnings Utime_tot Utime_usr Utime_sys`)

// numbered numbers words from 1, at most 63.
func numbered(s string) map[string]uint8 {
	out := map[string]uint8{}
	for _, w := range strings.Fields(s) {
		out[w] = uint8(len(out) + 1)
	}
	return out
}
