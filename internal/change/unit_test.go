package change

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func init() {
	for name, c := range map[string]Change{"unitoff": unit("kapp.service", UnitState{"disabled", "inactive"}), "uniton": unit("koff.service", UnitState{"enabled", "active"}),
		"unitmask": unit("kapp.service", UnitState{"masked", "inactive"})} {
		setups[name] = func(l lab, o *Options) { o.Hosts = map[string]host.Host{"target": overlayIn(l.dir)} }
		plans[name] = func(lab) []Change { return []Change{c} }
	}
	plans["program"] = func(l lab) []Change {
		return []Change{{Kind: KindUnit, Unit: &Unit{Name: "worker", Supervisor: l.path("supervisor.conf"), After: UnitState{Active: "inactive"}}}}
	}
}

func unit(name string, after UnitState) Change {
	return Change{Kind: KindUnit, Host: "target", Unit: &Unit{Name: name, After: after}}
}

// standIn answers for the part of systemctl that needs a running systemd:
// whether units run, starting and stopping them, and their files' text. All
// else is the real one, which in a folder that is a root of its own works on
// the links.
const standIn = `mv /usr/bin/systemctl /usr/bin/systemctl.real
cat >/usr/bin/systemctl <<'EOF'
#!/bin/sh
mkdir -p /run/units
for a; do case $a in -*) ;; *) verb=${verb:-$a}; unit=$a ;; esac; done
masked() { [ "$(readlink /etc/systemd/system/$unit)" = /dev/null ]; }
case $verb in
start) masked && { echo "Unit $unit is masked." >&2; exit 1; }; touch /run/units/$unit ;;
stop) rm -f /run/units/$unit ;;
is-active) [ -e /run/units/$unit ] && echo active || { echo inactive; exit 3; } ;;
cat) masked && { echo "# Unit $unit is masked."; exit 0; }; cat /etc/systemd/system/$unit 2>/dev/null || cat /usr/lib/systemd/system/$unit ;;
daemon-reload) ;;
*) exec /usr/bin/systemctl.real "$@" ;;
esac
EOF
chmod 755 /usr/bin/systemctl
cd /usr/lib/systemd/system
unit() { printf '[Service]\nExecStart=/bin/true\n'; [ -z "$1" ] || printf '[Install]\n'"$1"; }
unit 'WantedBy=multi-user.target\nAlias=kalias.service\nAlso=khelper.service\n' >kapp.service
unit 'WantedBy=multi-user.target\n' >khelper.service; unit 'WantedBy=multi-user.target\n' >koff.service
unit '' >kstatic.service; unit 'WantedBy=multi-user.target\n' >/etc/systemd/system/kown.service
systemctl enable -q kapp.service; systemctl mask -q khelper.service; systemctl unmask -q khelper.service
systemctl start kapp.service
# What an administrator has made by hand: the helper is not started at boot, and kapp also elsewhere.
rm -f /etc/systemd/system/multi-user.target.wants/khelper.service
mkdir -p /etc/systemd/system/rescue.target.wants; ln -s /usr/lib/systemd/system/kapp.service /etc/systemd/system/rescue.target.wants/kapp.service
`

func unitLab(t *testing.T) (lab, overlay) {
	t.Helper()
	if _, err := exec.LookPath("systemctl"); err != nil {
		t.Fatal("systemctl is not installed: run `make deps-test`")
	}
	dir, err := os.MkdirTemp(memory(), "kun")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	o := newOverlay(t, dir)
	o.sh(t, standIn)
	return lab{dir}, o
}

func (o overlay) seenUnits(t *testing.T) string {
	t.Helper()
	return o.sh(t, `find /etc/systemd/system -type l -printf '%p %l\n' | grep k | sort; ls /run/units
for u in kapp khelper koff kstatic kown; do echo $u $(systemctl is-enabled $u.service) $(systemctl is-active $u.service); done`)
}

func TestUnits(t *testing.T) {
	await.SkipShort(t)
	l, o := unitLab(t)
	x := o.executor(t, l)
	before := o.seenUnits(t)
	if !strings.Contains(before, "kapp enabled active") || !strings.Contains(before, "kstatic static inactive") || !strings.Contains(before, "rescue.target.wants/kapp") {
		t.Fatalf("the units are not as they should be:\n%s", before)
	}
	for _, c := range []struct {
		name  string
		after UnitState
		says  string
	}{
		{"kapp.service", UnitState{"disabled", "inactive"}, "kapp disabled inactive"},
		{"kapp.service", UnitState{"masked", "inactive"}, "kapp masked inactive"},
		{"kapp.service", UnitState{Enabled: "disabled"}, "kapp disabled active"},
		{"kapp.service", UnitState{Active: "inactive"}, "kapp enabled inactive"},
		{"koff.service", UnitState{"enabled", "active"}, "koff enabled active"},
		{"koff.service", UnitState{Active: "active"}, "koff disabled active"},
		{"kstatic.service", UnitState{Enabled: "masked"}, "kstatic masked inactive"},
		{"kown.service", UnitState{Enabled: "enabled"}, "kown enabled inactive"},
	} {
		t.Run(c.name+" "+c.after.String(), func(t *testing.T) {
			tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{unit(c.name, c.after)}})
			must(t, err)
			if now := o.seenUnits(t); !strings.Contains(now, c.says) {
				t.Fatalf("it is:\n%s", now)
			}
			drift, err := x.Verify(t.Context())
			if err != nil || len(drift) > 0 {
				t.Fatalf("drift %v, %v", drift, err)
			}
			must(t, x.Revert(t.Context(), tx.ID))
			wantEqual(t, "reverted", o.seenUnits(t), before)
		})
	}
	// From masked and back.
	o.sh(t, "systemctl mask -q koff.service")
	before = o.seenUnits(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{unit("koff.service", UnitState{"enabled", "active"})}})
	must(t, err)
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "masked again", o.seenUnits(t), before)
}

func TestUnitRefusals(t *testing.T) {
	l, o := unitLab(t)
	x := o.executor(t, l)
	seen := unit("kapp.service", UnitState{Active: "inactive"})
	seen.Unit.Before = UnitState{"disabled", "active"}
	for _, c := range []struct {
		change Change
		says   string
	}{
		{unit("nothing.service", UnitState{Active: "active"}), "does not know it"},
		{unit("kapp", UnitState{Active: "active"}), "kapp.service"},
		{unit("kapp.service", UnitState{"enabled", "active"}), "already"},
		{unit("kapp.service", UnitState{Enabled: "linked"}), "enabled, disabled or masked"},
		{unit("kapp.service", UnitState{"masked", "active"}), "cannot be started"},
		{unit("kstatic.service", UnitState{Enabled: "enabled"}), "no [Install]"},
		{unit("kown.service", UnitState{Enabled: "masked"}), "disable it instead"},
		{unit("--force", UnitState{Active: "active"}), "needs the name"},
		{seen, "the plan saw disabled and active"},
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c.change}})
		wantText(t, err, c.says)
	}
	if len(x.History()) > 0 {
		t.Fatal("a refused plan is in the journal")
	}
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{unit("kapp.service", UnitState{Enabled: "disabled"})}})
	must(t, err)
	o.sh(t, "systemctl mask -q kapp.service")
	var conflict *ConflictError
	if err := x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) || !strings.HasPrefix(conflict.Got, "masked") {
		t.Fatalf("error %v", err)
	}
}

func TestUnitKilledAtEveryStep(t *testing.T) {
	if !everyStep() {
		t.Skip("it takes a minute; TestUnitHalfWay is the short one")
	}
	l, o := unitLab(t)
	for _, job := range []string{"unitoff-apply", "unitmask-revert", "uniton-apply"} {
		killedEverywhere(t, l, job, func() string { return o.seenUnits(t) })
	}
}

// TestUnitHalfWay: killed between its two commands, there and back.
func TestUnitHalfWay(t *testing.T) {
	await.SkipShort(t)
	l, o := unitLab(t)
	before := o.seenUnits(t)
	for _, script := range []string{"systemctl stop kapp.service", "systemctl disable -q kapp.service", "systemctl stop kapp.service; systemctl disable -q kapp.service; systemctl enable -q kapp.service"} {
		opts := l.options(l.project(t))
		opts.Hosts = map[string]host.Host{"target": o}
		x, err := Open(t.Context(), opts)
		must(t, err)
		tx, err := x.begin(t.Context(), Intent{Title: "t", Changes: []Change{unit("kapp.service", UnitState{"disabled", "inactive"})}})
		must(t, err)
		must(t, x.note(tx, record{Op: opIntent, Change: new(int)}))
		must(t, x.Close())
		o.sh(t, script)
		x, err = Open(t.Context(), opts)
		must(t, err)
		_, err = x.Recover(t.Context())
		must(t, err)
		must(t, x.Close())
		wantEqual(t, script, o.seenUnits(t), before)
	}
}

// TestPrograms: the real supervisord.
func TestPrograms(t *testing.T) {
	await.SkipShort(t)
	for _, p := range []string{"supervisord", "supervisorctl"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatalf("%s is not installed: run `make deps-test`", p)
		}
	}
	dir, err := os.MkdirTemp(memory(), "ksv")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := lab{dir}
	conf := "[unix_http_server]\nfile=" + l.path("s") + "\n[supervisord]\nnodaemon=true\nlogfile=" + l.path("log") + "\npidfile=" + l.path("pid") + "\nchildlogdir=" + dir +
		"\n[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n[supervisorctl]\nserverurl=unix://" + l.path("s") +
		"\n[program:worker]\ncommand=sleep 1000\nstartsecs=0\n[program:broken]\ncommand=false\nautostart=false\nstartretries=0\nstartsecs=1\n"
	must(t, os.WriteFile(l.path("supervisor.conf"), []byte(conf), 0o644))
	c := exec.Command("supervisord", "-n", "-c", l.path("supervisor.conf"))
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Signal(os.Interrupt); c.Wait() })
	seen := func() string {
		out, _ := exec.Command("supervisorctl", "-c", l.path("supervisor.conf"), "status").CombinedOutput() // 3: some do not run
		var words []string
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) > 1 {
				words = append(words, f[0]+" "+f[1])
			}
		}
		return strings.Join(words, ", ")
	}
	must(t, await.Until(func() error {
		if s := seen(); s != "broken STOPPED, worker RUNNING" {
			return errors.New(s)
		}
		return nil
	}))
	x := l.app(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: plans["program"](l)})
	must(t, err)
	wantEqual(t, "stopped", seen(), "broken STOPPED, worker STOPPED")
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "reverted", seen(), "broken STOPPED, worker RUNNING")

	broken := Change{Kind: KindUnit, Unit: &Unit{Name: "broken", Supervisor: l.path("supervisor.conf"), After: UnitState{Active: "active"}}}
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{broken}})
	wantText(t, err, "broken")
	if len(x.Pending()) > 0 {
		t.Fatal("pending")
	}
	nothing := Change{Kind: KindUnit, Unit: &Unit{Name: "nothing", Supervisor: l.path("supervisor.conf"), After: UnitState{Active: "active"}}}
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{nothing}})
	wantText(t, err, "nothing", "no such process")
	if !everyStep() {
		return // each call of supervisorctl takes a second
	}
	for _, job := range []string{"program-apply"} {
		killedEverywhere(t, l, job, func() string { return strings.TrimPrefix(seen(), "broken FATAL, ") })
	}
}
