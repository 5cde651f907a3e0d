package goapp

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The test's own program was built by Go, so it has what Parse reads.
func TestParse(t *testing.T) {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("\xff Go buildinf:"))
		if i < 0 {
			t.Fatal("no build information was found")
		}
		if at += i; at%16 == 0 {
			b, err := Parse(data[at:min(len(data), at+1<<16)])
			if err == nil && strings.HasPrefix(b.Version, "go1.") && b.Settings["GOARCH"] != "" {
				return
			}
		}
		at++
	}
}

func TestSeesQuota(t *testing.T) {
	for _, c := range []struct {
		version, defaults, godebug string
		want                       bool
	}{
		{"go1.24.1", "", "", false},
		{"go1.25", "", "", true},
		{"go1.26.8", "containermaxprocs=0,updatemaxprocs=0", "", false},
		{"go1.26.8", "", "containermaxprocs=0", false},
	} {
		b := &Build{Version: c.version, Settings: map[string]string{"DefaultGODEBUG": c.defaults}}
		if b.SeesQuota(c.godebug) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\xff Go buildinf:\x08\x02" + strings.Repeat("\x00", 16) + "\x04go1."))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = Parse(data) })
}
