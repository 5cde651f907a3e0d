package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// Names that are misspelt, written otherwise or of one's own are read as what they are by
// name and values, which is told unless only capitals and dashes differ.
func TestNamesThatAreNearlyKnown(t *testing.T) {
	const want = "GET /a%d 200 49000/-1 7100 09:50:40"
	for _, c := range []struct {
		line string
		told string // labels of which notes tell
	}{
		{`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a%d","status":200,"body_bytes_sents":7100,"request_time":0.049}`, "body_bytes_sents"},
		{`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a%d","stauts":"200","bytes":7100,"request_time":0.049}`, "stauts"},
		{`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a%d","status":200,"bytesSent":7100,"requset_time":0.049}`, "requset_time"},
		{`{"timestmap":"2024-05-12T09:50:40Z","methd":"GET","request_ur":"/a%d","status":200,"responseBytes":7100,"request_tme":0.049}`, "timestmap methd request_ur request_tme"},
		{`{"Time":"2024-05-12T09:50:40Z","Method":"GET","Path":"/a%d","Status":200,"Size":7100,"Duration":"49ms"}`, ""},
		{`{"TIME":"2024-05-12T09:50:40Z","METHOD":"GET","URI":"/a%d","STATUS":200,"BYTES":7100,"REQUEST_TIME":0.049}`, ""},
		{`{"time":"2024-05-12T09:50:40Z","request-method":"GET","request-uri":"/a%d","status-code":200,"body-bytes-sent":7100,"request-time":0.049}`, ""},
		{`{"loggedAt":"2024-05-12T09:50:40Z","verb_name":"GET","endpoint":"/a%d","responseStatus":200,"contentLength":7100,"durationMillis":49}`, "verb_name"},
		{`{"time":"2024-05-12T09:50:40Z","req":{"method":"GET","path":"/a%d"},"res":{"status":200,"bytes":7100},"ms":49}`, "ms"},
		{`{"time":"2024-05-12T09:50:40Z","my_call":"GET /a%d HTTP/1.1","status":200,"bytes":7100,"request_time":0.049}`, "my_call"},
		{"tiem:2024-05-12T09:50:40Z\tmethod:GET\turi:/a%d\tstaus:200\tsiz:7100\treqtim:0.049", "tiem staus siz reqtim"},
		{"Time:2024-05-12T09:50:40Z\tMethod:GET\tURI:/a%d\tStatus:200\tSize:7100\tReqTime:0.049", ""},
		{"time:2024-05-12T09:50:40Z\tmy_call:GET /a%d HTTP/1.1\tstatus:200\tsize:7100\treqtime:0.049", "my_call"},
		{`<190>1 2024-05-12T09:50:40Z web app 12 - - {"methode":"GET","uri":"/a%d","status":200,"size":7100,"request_time":0.049}`, "methode"},
		{`time=2024-05-12T09:50:40Z method=GET path=/a%d staus=200 bytes=7100 durationn=49ms`, "staus durationn"},
		// What is known goes before what is nearly so.
		{`{"time":"2024-05-12T09:50:40Z","method":"GET","path":"/a%d","status":200,"stauts":500,"bytes":7100,"byte":3,"request_time":0.049,"request_tme":3.5}`, ""},
	} {
		var log strings.Builder
		for i := range 8 {
			fmt.Fprintf(&log, c.line+"\n", i)
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		r := NewRows(f, true)
		for i := range 3 { // the short way, too
			line := fmt.Sprintf(c.line, i)
			var row Row
			why := r.Parse([]byte(line), &row)
			got := fmt.Sprintf("%s %s %d %d/-1 %d %s", row.Method, row.Target, row.Status, micros(row.Request), row.Bytes, row.Time.Format("15:04:05"))
			if why != "" || f.Doubt != nil || got != fmt.Sprintf(want, i) {
				t.Errorf("%s: %s %s by %s %v", line, why, got, f.Name, f.Doubt)
			}
		}
		notes := strings.Join(f.Notes, "\n")
		if n := strings.Count(notes, "by its name and values"); n != len(strings.Fields(c.told)) {
			t.Errorf("%s: %q, want of %s", c.line, f.Notes, c.told)
		}
		for label := range strings.FieldsSeq(c.told) {
			if !strings.Contains(notes, fmt.Sprintf("%q is read as", label)) {
				t.Errorf("%s: nothing told of %s: %q", c.line, label, f.Notes)
			}
		}
	}
}

// What has another meaning, by its words or its values, stays out.
func TestNamesOfOtherThings(t *testing.T) {
	for _, line := range []string{
		`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a%d","request_length":99,"upstream_bytes":3,"req_size":4,"bytes_received":6,"port":443,"site":1,"upstream_status":502,"exit_status":200,"state":200}`,
		"time:2024-05-12T09:50:40Z\tmethod:GET\turi:/a%d\tstat:up\tsizes:large\trequest_times:many\tupstream_status:502\tconnect_ms:3\tqueue_time:5",
		`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a%d","user":{"status":200,"size":12,"duration":3},"bytez":5,"byts":6}`,
	} {
		var log strings.Builder
		for i := range 8 {
			fmt.Fprintf(&log, line+"\n", i)
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		e, why := NewRows(f, true).Entry([]byte(fmt.Sprintf(line, 1)))
		if why != "" || e.Status != 0 || e.Bytes >= 0 || e.Request >= 0 && f.Doubt == nil {
			t.Errorf("%s: %s status %d, %d B, %v by %s %q", line, why, e.Status, e.Bytes, e.Request, f.Name, f.Notes)
		}
	}
}
