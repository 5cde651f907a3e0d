package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Dates as people configure them, in brackets behind the client and alone before it.
func TestDatesOfOtherForms(t *testing.T) {
	const day = "2021-08-19T10:00:00"
	for _, c := range []struct{ text, bracketed, alone string }{
		{"19/Aug/2021 10:00:00 771", day + ".771", day},
		{"19/Aug/2021:10:00:00 771 +0200", "2021-08-19T08:00:00.771", "2021-08-19T08:00:00.771"},
		{"19/Aug/2021:10:00:00 +0200 771", "2021-08-19T08:00:00.771", "2021-08-19T08:00:00"},
		{"19/Aug/2021:10:00:00:771 +0200", "2021-08-19T08:00:00.771", "2021-08-19T08:00:00.771"},
		{"19/Aug/2021:10:00:00 771042 +0000", day + ".771042", day + ".771042"},
		{"19-Aug-2021 10:00:00.771", day + ".771", day + ".771"},
		{"19-Aug-2021 10:00:00 +0200", "2021-08-19T08:00:00", "2021-08-19T08:00:00"},
		{"19-AUG-2021 10:00:00", day, day},
		{"19-Aug-21 10:00:00", day, day},
		{"2021-08-19 10:00:00:771", day + ".771", day + ".771"},
		{"2021-08-19 10:00:00 771", day + ".771", day},
		{"2021-08-19-10:00:00", day, day},
		{"2021-08-19_10:00:00", day, day},
		{"2021.08.19 10:00:00", day, day},
		{"2021/Aug/19 10:00:00", day, day},
		{"2021-8-19 9:05:07", "2021-08-19T09:05:07", "2021-08-19T09:05:07"},
		{"19.08.2021 10:00:00", day, day},
		{"19.08.2021, 10:00:00", day, day},
		{"19/Aug/2021 - 10:00:00", day, day},
		{"Aug 19, 2021 10:00:00 AM", day, day},
		{"August 19, 2021 10:00:00 PM", "2021-08-19T22:00:00", "2021-08-19T22:00:00"},
		{"Aug 19 2021 10:00:00.771", day + ".771", day + ".771"},
		{"Thu Aug 19 10:00:00.771 2021", day + ".771", day + ".771"},
		{"Thu Aug 19 10:00:00 UTC 2021", day, day},
		{"Thu, 19 Aug 2021 10:00:00 +0200", "2021-08-19T08:00:00", "2021-08-19T08:00:00"},
		{"Thursday, 19-Aug-21 10:00:00 GMT", day, day},
		{"19 Aug 2021 10:00:00", day, day},
		{"20210819 100000", day, day},
		{"20210819-10:00:00.771", day + ".771", day + ".771"},
		{"20210819100000", day, day},
		{"20210819100000771", day + ".771", day + ".771"},
		{"2021-08-19T10:00", day, day},
		{"19/08/2021 10:00:00", day, day},
		{"08/19/2021 10:00:00", day, day},
		// A zone that is known by its name alone, and what is none.
		{"19/Aug/2021:10:00:00 CEST", "", ""},
		{"2021-08-19 10:00:00 EST", "", ""},
		{"2021-13-19 10:00:00", "", ""},
		{"31.02.2021 10:00:00 771 771", "", ""},
		{"19/Aug/2021 13:00:00 PM", "2021-08-19T13:00:00", "2021-08-19T13:00:00"},
		{"2021-231 10:00:00", "", ""},
		{"12345", "", ""},
	} {
		for i, line := range []string{
			`192.0.2.7 - - [` + c.text + `] "GET /a HTTP/1.1" 200 700 "-" "curl" 0.049`,
			c.text + ` 192.0.2.7 "GET /a HTTP/1.1" 200 700 0.049`,
		} {
			want := []string{c.bracketed, c.alone}[i]
			e, why := NewRows(Line(), true).Entry([]byte(line))
			if why != "" {
				t.Errorf("%s: %s", line, why)
				continue
			}
			got := ""
			if !e.Time.IsZero() {
				got = e.Time.Format("2006-01-02T15:04:05.999999")
			}
			if got != want || e.Status != 200 || micros(e.Request) != 49_000 {
				t.Errorf("%s: %q, status %d, %v; want %q", line, got, e.Status, e.Request, want)
			}
		}
	}
}

// What comes first in a line, stands in brackets, or has a time's name, is no date if it
// is too small for one: a day, a process, a duration.
func TestShortNumbersAreNoDates(t *testing.T) {
	for _, line := range []string{
		`19 192.0.2.7 "GET /a HTTP/1.1" 200 700 0.049`,
		`0.012 192.0.2.7 "GET /a HTTP/1.1" 200 700 0.049`,
		`web [19] 192.0.2.7 "GET /a HTTP/1.1" 200 700 0.049`,
		`{"time":12,"method":"GET","path":"/a","status":200,"size":700,"request_time":0.049}`,
		"time:12\tmethod:GET\turi:/a\tstatus:200\tsize:700\treqtime:0.049",
	} {
		f, err := Detect([]byte(strings.Repeat(line+"\n", 5)))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		r := NewRows(f, true)
		for range 3 { // the short way, too
			var row Row
			if why := r.Parse([]byte(line), &row); why != "" || !row.Time.IsZero() || row.Status != 200 {
				t.Errorf("%s: %q %v, status %d", line, why, row.Time, row.Status)
			}
		}
	}
}

// Which number of 05/06/2024 is the month, another line of the log tells, or nothing.
func TestDateOrder(t *testing.T) {
	for _, c := range []struct{ other, want string }{
		{"25/05/2024", "2024-06-05"},
		{"05/25/2024", "2024-05-06"},
		{"04/06/2024", ""},
	} {
		for _, form := range []string{
			`192.0.2.7 - - [%s 09:50:40] "GET /a HTTP/1.1" 200 700 "-" "curl" 0.049`,
			`{"time":"%s 09:50:40","method":"GET","path":"/a","status":200,"size":700,"request_time":0.049}`,
		} {
			line := fmt.Sprintf(form, "05/06/2024")
			f, err := Detect([]byte(strings.Repeat(fmt.Sprintf(form, c.other)+"\n"+line+"\n", 5)))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			e, why := NewRows(f, true).Entry([]byte(line))
			got := ""
			if why == "" && !e.Time.IsZero() {
				got = e.Time.Format(time.DateOnly)
			}
			if told := strings.Contains(strings.Join(f.Notes, " "), "with the day or with the month"); got != c.want || told != (c.want == "") {
				t.Errorf("beside %s: %s is %q (%s), want %q; %q", c.other, line, got, why, c.want, f.Notes)
			}
		}
	}
}
