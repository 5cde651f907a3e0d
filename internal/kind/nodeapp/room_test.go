package nodeapp

import "testing"

func TestIs(t *testing.T) {
	if !Is("/usr/bin/nodejs") || Is("/usr/bin/node_exporter") {
		t.Error("Is")
	}
}
