package evidence

import "testing"

func TestUnitOf(t *testing.T) {
	for cgroup, want := range map[string]string{
		"0::/system.slice/munin-node.service\n":                                                          "munin-node.service",
		"0::/system.slice/system-app.slice/app@1.service/worker\n":                                       "app@1.service",
		"12:pids:/system.slice/ssh.service\n1:name=systemd:/system.slice/collectd.service\n0::/\n":       "collectd.service",
		"0::/user.slice/user-1000.slice/session-3.scope\n":                                               "",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n":                         "",
		"1:name=systemd:/payload/system.slice/netdata.service\n0::/payload/system.slice/other.service\n": "netdata.service",
		"0::/init.scope\n": "",
		"":                 "",
	} {
		if got := unitOf([]byte(cgroup)); got != want {
			t.Errorf("%q is of %q, want %q", cgroup, got, want)
		}
	}
}
