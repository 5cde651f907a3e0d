package stack

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/foreign"
	_ "kasoku/internal/rapidseed"
	"kasoku/internal/regulation"
)

func TestRenderGolden(t *testing.T) {
	s, err := parse("k.yaml", []byte(goodYAML), "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	s.Services[0].Version = "1.22.1"
	s.Services[3].Login = nil
	got, err := s.Render()
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "rendered.yaml")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("differs from %s (UPDATE_GOLDEN=1 rewrites it):\n%s", golden, got)
	}
	for _, trade := range regulation.Trades {
		if !strings.Contains(string(got), trade.Text) {
			t.Errorf("no word of the trade %s", trade.Trade)
		}
	}
}

// What Render writes, Load reads back as the same stack.
func TestRenderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStack(t)
		text, err := s.Render()
		if err != nil {
			t.Fatal(err)
		}
		back, err := parse("k.yaml", text, s.Dir)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(s, back) {
			t.Fatalf("want %+v\ngot  %+v\n%s", s, back, text)
		}
	})
}

// drawStack makes a valid stack as Load would return it.
func drawStack(t *rapid.T) *Stack {
	word := rapid.StringMatching(`[ -~äß#:'"{}&*!|>%@]{1,12}`)
	path := rapid.Custom(func(t *rapid.T) string {
		dir := rapid.SampledFrom([]string{"/srv/x", "/etc", "/srv/x/sub"}).Draw(t, "dir")
		return filepath.Clean(dir + "/" + rapid.StringMatching(`[a-z #:'-]{0,6}[a-z]`).Draw(t, "file"))
	})
	s := &Stack{Dir: "/srv/x", Version: 1, Name: word.Draw(t, "name")}
	s.Load = LoadConfig{Scenario: path.Draw(t, "scenario"), URL: "http://127.0.0.1:8080", Workload: rapid.IntRange(0, 9).Draw(t, "workload")}
	if rapid.Bool().Draw(t, "foreign") {
		s.Load.Scenario = ""
		s.Load.Command = &foreign.Command{Argv: []string{path.Draw(t, "program"), word.Draw(t, "arg")}, Format: rapid.SampledFrom([]string{"", "wrk"}).Draw(t, "format"),
			Score: &foreign.Value{Regexp: `score: "?(\d+)`}, Timeout: time.Minute, Environment: map[string]string{"A": word.Draw(t, "value")}}
	}
	if rapid.Bool().Draw(t, "reset") {
		s.Load.Reset = []string{path.Draw(t, "program"), word.Draw(t, "arg")}
	} else if rapid.Bool().Draw(t, "snapshot") {
		s.Load.Reset = []string{SnapshotReset}
		s.Load.Snapshot = Snapshot{Databases: []string{word.Draw(t, "database")}, Folders: []string{path.Draw(t, "folder")}, Shared: true}
	}
	if rapid.Bool().Draw(t, "regulated") {
		s.Regulation = regulation.Regulation{Allow: []regulation.Trade{regulation.Staleness}, MemoryHeadroomPercent: 30, NoTouch: []string{"s0"}, Install: true}
	}
	if rapid.Bool().Draw(t, "tuned") {
		s.Tune = Tune{SmallestEffect: 0.02, MaxPairs: 6}
	}
	if rapid.Bool().Draw(t, "seen") {
		s.Evidence = EvidenceConfig{OTLP: "127.0.0.1:4318", Routes: []string{"/users/:name/*"}, LogFormat: word.Draw(t, "log format"), Profile: ProfileOff}
	}
	n := rapid.IntRange(1, 3).Draw(t, "services")
	for i := range n {
		svc := Service{Name: "s" + string(rune('0'+i)), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Host: LocalHost,
			Config: path.Draw(t, "config"), Health: Health{Timeout: rapid.SampledFrom([]time.Duration{30 * time.Second, time.Minute}).Draw(t, "timeout")}}
		if rapid.Bool().Draw(t, "listens") {
			svc.Listen = []string{"unix:" + path.Draw(t, "socket"), "127.0.0.1:80"}
		}
		if i > 0 {
			svc.TalksTo = []string{"s0"}
		}
		if svc.Kind == App {
			svc.Root, svc.Settings = path.Draw(t, "root"), []string{path.Draw(t, "settings")}
		}
		if svc.Kind == Nginx && rapid.Bool().Draw(t, "logs") {
			svc.AccessLog, svc.Logs, svc.Status = path.Draw(t, "access log"), []string{path.Draw(t, "log")}, "http://127.0.0.1/status"
		}
		if svc.IsDatabase() && rapid.Bool().Draw(t, "login") {
			svc.Login = &Login{User: word.Draw(t, "user"), PasswordFile: path.Draw(t, "password_file")}
		}
		if rapid.Bool().Draw(t, "control") {
			svc.Control = Control{Method: MethodProcess, PIDFile: path.Draw(t, "pid"), Start: []string{path.Draw(t, "start"), word.Draw(t, "arg"), "--a=b"}}
		}
		if svc.Kind == App && svc.Control.PIDFile != "" && rapid.Bool().Draw(t, "variants") {
			svc.Variants = []Variant{{Name: "v", Control: Control{Unit: "v.service"}, PProf: "http://127.0.0.1:6060/"},
				{Name: "w", Root: path.Draw(t, "its root"), Settings: []string{path.Draw(t, "its settings")}, Binary: path.Draw(t, "its binary"),
					Control: Control{PIDFile: "/run/w.pid", EnvFile: path.Draw(t, "its environment"), Start: []string{path.Draw(t, "its start"), word.Draw(t, "its arg")}},
					Build:   &Build{Dir: path.Draw(t, "its source"), Command: []string{"go", "build"}, Products: []string{"app"}}}}
		}
		s.Services = append(s.Services, svc)
	}
	return s
}
