package diagnose

import "testing"

// Clients that come through the database's socket have no name to look up.
func TestNamesOfSocketClients(t *testing.T) {
	find := func(tcp int64) bool {
		in := healthy()
		variable("skip_name_resolve", "OFF")(&in)
		delta("db", "Connections", 2000)(&in)
		in.Evidence.System.TCP.PassiveOpens = tcp
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "db.name-resolve" {
				return true
			}
		}
		return false
	}
	if !find(2500) || find(100) {
		t.Errorf("with enough connections over TCP: %v, want true; with 100: %v, want false", find(2500), find(100))
	}
}
