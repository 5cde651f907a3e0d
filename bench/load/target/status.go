package target

import "fmt"

// Status is what ngx_http_stub_status_module says.
type Status struct {
	Active   int64 // connections open now
	Accepted int64 // connections since the start
	Handled  int64
	Requests int64 // since the start
}

// ParseStatus reads the module's page.
func ParseStatus(b []byte) (Status, error) {
	var s Status
	_, err := fmt.Sscanf(string(b), "Active connections: %d \nserver accepts handled requests\n %d %d %d", &s.Active, &s.Accepted, &s.Handled, &s.Requests)
	if err != nil {
		return Status{}, fmt.Errorf("not a page of stub_status: %q: %w", b, err)
	}
	return s, nil
}

// Served is how many requests came between two reads of the status; the
// second read itself is not among them.
func Served(before, after Status) int64 { return after.Requests - before.Requests - 1 }
