package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// Lines with two times of the request are read by the short way, too: the surer one counts,
// or the first, and where that is none, the other.
func TestTwoRequestTimesGoTheShortWay(t *testing.T) {
	for name, line := range map[string]string{
		"json":          `{"method":"GET","uri":"/a","status":200,"request_time":%s,"response_time":%s,"ua":"x"}`,
		"json, swapped": `{"method":"GET","uri":"/a","status":200,"response_time":%[2]s,"request_time":%[1]s,"ua":"x"}`,
		"ltsv":          "method:GET\turi:/a\tstatus:200\trequest_time:%s\tresponse_time:%s\tua:x",
		"the same name": `{"method":"GET","uri":"/a","status":200,"request_time":%s,"b":1,"request_time":%s,"ua":"x"}`,
	} {
		values := []string{"0.062", "0.056"}
		quoted := strings.HasPrefix(line, "{")
		fill := func(a, b string) []byte {
			if quoted {
				a, b = `"`+a+`"`, `"`+b+`"`
			}
			return fmt.Appendf(nil, line, a, b)
		}
		var head []byte
		for range 20 {
			head = append(append(head, fill(values[0], values[1])...), '\n')
		}
		f, err := Detect(head)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := NewRows(f, true)
		for _, v := range [][2]string{{"0.062", "0.056"}, {"0.100", "0.200"}, {"-", "0.056"}, {"0.062", "-"}, {"-", "-"}, {"1.500", "0.001"}} {
			at := fill(v[0], v[1])
			e, why := NewRows(f, true).Entry(at)
			if why != "" {
				t.Fatalf("%s: %s: %s", name, at, why)
			}
			want := e.Request
			var row Row
			if why := r.Parse(at, &row); why != "" || row.Request != want {
				t.Errorf("%s: %s: %v %s, value by value %v", name, at, row.Request, why, want)
			}
		}
		if learnt := len(r.layouts) > 0; learnt == (name == "the same name") {
			t.Errorf("%s: a short way %v", name, learnt)
		}
	}
}
