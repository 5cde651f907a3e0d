package evidence

import "testing"

func TestScriptOf(t *testing.T) {
	for _, c := range []struct {
		exe  string
		argv []string
		want string
	}{
		{"/usr/bin/dash", []string{"/bin/sh", "/srv/loop.sh", "5"}, "/srv/loop.sh"},
		{"/usr/bin/bash", []string{"bash", "-e", "bin/loop"}, "/srv/app/bin/loop"},
		{"/usr/bin/bash", []string{"bash", "--norc", "../loop"}, "/srv/loop"},
		{"/usr/bin/dash", []string{"sh", "-c", "while true; do sleep 1; done"}, ""},
		{"/usr/bin/bash", []string{"bash", "-ec", "sleep 1"}, ""},
		{"/usr/bin/dash", []string{"sh"}, ""},
		{"/usr/bin/php", []string{"php", "cron.php"}, ""},
		{"/usr/bin/perl", []string{"sh", "x"}, ""},
	} {
		if got := ScriptOf(AppProcess{Exe: c.exe, Argv: c.argv, Dir: "/srv/app"}); got != c.want {
			t.Errorf("%v: %q, want %q", c.argv, got, c.want)
		}
	}
}
