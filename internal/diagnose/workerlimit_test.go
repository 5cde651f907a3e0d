package diagnose

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// Workers and connections that are all in use bind, and where they do not they
// are among the causes that were looked at.
func TestLimitsThatBind(t *testing.T) {
	patient := func(in *Input) { in.Evidence.Counters["php"].Value["www.max_listen_queue"] = "0" }
	for name, c := range map[string]struct {
		sign func(*Input)
		want string
	}{
		"Apache": {func(in *Input) {
			in.Evidence.Logs = append(in.Evidence.Logs, evidence.LogLine{Service: "httpd", Text: "AH00484: server reached MaxRequestWorkers setting"})
		}, "workers: httpd"},
		"an application server":      {gunicorn, "workers: api"},
		"refused connections":        {delta("db", "Connection_errors_max_connections", 3), "connections: db"},
		"no connection left":         {value("db", "Threads_connected", "151"), "connections: db"},
		"many connections long ago":  {value("db", "Max_used_connections", "151"), "nothing"},
		"none of them, all are told": {patient, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			idle(&in)
			c.sign(&in)
			m, err := newModel(in)
			if err != nil {
				t.Fatal(err)
			}
			if got, text := m.binds(); got != c.want {
				t.Errorf("%s: %s", got, text)
			}
			told := strings.Join(m.causes(), "\n")
			for _, want := range []string{"MaxRequestWorkers", "of max_connections = 151"} {
				if !strings.Contains(told, want) {
					t.Errorf("%q is not among the causes:\n%s", want, told)
				}
			}
		})
	}
}

// Where requests wait for workers, connections or locks, more users only wait longer.
func TestMoreUsersWouldOnlyWait(t *testing.T) {
	in := healthy()
	idle(&in)
	gunicorn(&in)
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, why := judgeWorkload(m); len(got) != 0 || !strings.Contains(why, "more users would only wait longer: ") || !strings.Contains(why, "of api has room for") {
		t.Errorf("%+v %q", got, why)
	}
}
