package accesslog

import (
	"bytes"
	"time"
)

// clockForms are dates that some programs write and people configure, besides
// those of clock.parse. A zone's name is understood if it is UTC's.
var clockForms = []string{
	"Jan/02/2006:15:04:05 -0700",
	"02/Jan/2006 15:04:05 -0700",
	"02/Jan/2006 15:04:05", // Python's http.server
	"02/Jan/2006:03:04:05 PM -0700",
	"02/Jan/2006 03:04:05 PM",
	time.RFC1123, // HTTP's dates, morgan's :date[web]
	time.RFC1123Z,
	time.ANSIC, // ctime(3)
	time.UnixDate,
	"20060102T150405Z0700", // ISO 8601, basic
	"20060102T150405",
}

// formLengths of the text of a date in clockForms.
const shortForm, longForm = 15, 40

// form reads a date of clockForms.
func (c *clock) form(b []byte) (time.Time, bool) {
	if len(b) < shortForm || len(b) > longForm || bytes.IndexByte(b, ':') < 0 && b[8] != 'T' {
		return time.Time{}, false
	}
	text := string(b)
	for _, layout := range clockForms {
		t, err := time.ParseInLocation(layout, text, time.UTC)
		if err != nil {
			continue
		}
		zone, _ := t.Zone()
		switch named := layout == time.RFC1123 || layout == time.UnixDate; {
		case named && zone != "UTC" && zone != "GMT":
			return time.Time{}, false
		case !named && c.zone != nil && !bytes.Contains([]byte(layout), []byte("0700")):
			t, _ = time.ParseInLocation(layout, text, c.zone)
		}
		return t.UTC(), true
	}
	return time.Time{}, false
}
