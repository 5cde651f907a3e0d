package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// sysctlAct sets a kernel setting at run time. To make it permanent, a plan
// puts a KindFile change of SysctlFile beside it.
//
// Keys under net.* belong to a network namespace: what is set is what the
// host's processes see in the namespace that Kasoku's command runs in. All
// others are the machine's, and inside a container mostly cannot be written.
//
// A key that is a path below /sys is one of sysfsSetting.
type sysctlAct struct{ work }

// SysctlFile is where a permanent kernel setting belongs. The name sorts after
// Debian's 99-sysctl.conf, a link to /etc/sysctl.conf: of two files that set a
// key the later name wins (sysctl.d(5)).
const SysctlFile = "/etc/sysctl.d/99-zz-kasoku.conf"

// sysctlKey is a key with dots or slashes, of at least two parts.
var sysctlKey = regexp.MustCompile(`^[a-z0-9_]+([./][A-Za-z0-9_:@-]+([./][A-Za-z0-9_.:@-]+)*)$`)

// sysctlAlso are keys that the kernel sets to zero when their twin is set
// (Documentation/admin-guide/sysctl/vm.rst, "dirty_bytes" and
// "overcommit_kbytes"). Only setting the twin again brings them back.
var sysctlAlso = map[string]string{
	"vm/dirty_bytes": "vm/dirty_ratio", "vm/dirty_ratio": "vm/dirty_bytes",
	"vm/dirty_background_bytes": "vm/dirty_background_ratio", "vm/dirty_background_ratio": "vm/dirty_background_bytes",
	"vm/overcommit_kbytes": "vm/overcommit_ratio", "vm/overcommit_ratio": "vm/overcommit_kbytes",
}

// sysctlName is a key with slashes between its parts. If the first separator
// is a slash, dots belong to names (eth0.100); else the two are exchanged
// (sysctl.d(5)).
func sysctlName(key string) string {
	if i := strings.IndexAny(key, "./"); i >= 0 && key[i] == '.' {
		return strings.NewReplacer(".", "/", "/", ".").Replace(key)
	}
	return key
}

func sysctlPath(key string) string {
	if ofSysfs(key) {
		return key
	}
	return path.Join("/proc/sys", sysctlName(key))
}

// settable reports whether a KindSysctl change may name the key.
func settable(key string) bool {
	if ofSysfs(key) {
		return sysfsSetting.MatchString(key)
	}
	return sysctlKey.MatchString(key) && !strings.Contains(sysctlName(key), "..")
}

func (a *sysctlAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	if !settable(c.Variable) || strings.TrimSpace(c.AfterValue) == "" || strings.ContainsAny(c.AfterValue, "\n\x00") {
		return nil, fmt.Errorf("set kernel setting %q to %q: it needs a key like net.core.somaxconn, or a path of those known below /sys, and a value of one line", c.Variable, c.AfterValue)
	}
	now, err := a.read(ctx, c.Variable)
	if err != nil {
		return nil, err
	}
	if c.BeforeValue != "" && !sameFields(now, c.BeforeValue) {
		return nil, fmt.Errorf("%s: %w: it is %q, the plan saw %q", a.subject(), ErrChanged, now, c.BeforeValue)
	}
	if err := a.writable(ctx); err != nil {
		return nil, err
	}
	c.BeforeValue, c.Reported, c.Also = now, "", nil
	if twin := sysctlAlso[sysctlName(c.Variable)]; twin != "" {
		was, err := a.read(ctx, twin)
		if err != nil {
			return nil, err
		}
		c.Also = map[string]string{twin: was}
	}
	return nil, nil
}

// read returns a setting without its newline. The kernel separates fields by
// tabs.
func (a *sysctlAct) read(ctx context.Context, key string) (string, error) {
	b, err := a.h.ReadFile(ctx, sysctlPath(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: this kernel, or the namespace that the host's commands run in, has no %s", a.subject(), sysctlPath(key))
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%s: it cannot be read, so it could not be put back: %w", a.subject(), err)
	case err != nil:
		return "", fmt.Errorf("read %s: %w", a.subject(), err)
	}
	text := strings.TrimRight(string(b), "\n")
	if ofSysfs(key) {
		text = chosen(text)
	}
	return text, nil
}

// writable says before anything is journaled that a setting cannot be set
// here: access(2) knows of rights, of a read-only /proc/sys and of namespaces.
func (a *sysctlAct) writable(ctx context.Context) error {
	p := sysctlPath(a.c.Variable)
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"test", "-w", p}})
	if err != nil {
		return fmt.Errorf("%s: %w", a.subject(), err)
	}
	if r.ExitCode != 0 {
		return fmt.Errorf("%s: it cannot be set here: %s is not writable for Kasoku's user (not root, a container with a read-only /proc/sys, or a setting that only the machine outside has); set it there by hand: %s", a.subject(), p, setKernel(a.c.Variable, a.c.AfterValue))
	}
	return nil
}

func (a *sysctlAct) look(ctx context.Context) (sight, error) {
	now, err := a.read(ctx, a.c.Variable)
	if err != nil {
		return sight{}, err
	}
	after := a.c.AfterValue
	if a.c.Reported != "" {
		after = a.c.Reported
	}
	s := sight{got: now, before: sameFields(now, a.c.BeforeValue), after: sameFields(now, after)}
	for twin, was := range a.c.Also {
		v, err := a.read(ctx, twin)
		if err != nil {
			return sight{}, err
		}
		if s.before && !s.after && !sameFields(v, was) {
			s.before, s.got = false, now+" with "+twin+" "+v
		}
	}
	return s, nil
}

// claim: a value that the kernel made of AfterValue, when Kasoku was killed
// before it noted that. Writing it again tells: it makes the same.
func (a *sysctlAct) claim(ctx context.Context, s sight) (sight, error) {
	if a.t.progress[a.i].applied {
		return s, nil
	}
	now, err := a.read(ctx, a.c.Variable)
	if err != nil {
		return s, err
	}
	if err := a.put(ctx, a.c.Variable, a.c.AfterValue); err != nil {
		return s, nil // the kernel refuses it, so it is not from there
	}
	made, err := a.read(ctx, a.c.Variable)
	if err != nil {
		return s, err
	}
	if s.after = sameFields(made, now); s.after {
		return s, nil
	}
	return s, a.put(ctx, a.c.Variable, now)
}

// put writes one setting with one write(2), as the kernel wants it. dd, unlike
// a shell's echo or older versions of sysctl(8), tells every error.
func (a *sysctlAct) put(ctx context.Context, key, value string) error {
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"dd", "of=" + sysctlPath(key), "bs=4096", "conv=notrunc", "status=none"},
		Stdin: []byte(value + "\n"), Env: []string{"LC_ALL=C"}})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(tail(r))
	}
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "Invalid argument") {
			hint = "; the kernel does not take this value: compare its range in the kernel's sysctl documentation"
		}
		return fmt.Errorf("set %s to %q: %w%s", sysctlName(key), value, err, hint)
	}
	return nil
}

func (a *sysctlAct) write(ctx context.Context) (string, error) {
	if err := a.put(ctx, a.c.Variable, a.c.AfterValue); err != nil {
		return "", err
	}
	made, err := a.read(ctx, a.c.Variable)
	if err != nil {
		return "", err
	}
	if sameFields(made, a.c.BeforeValue) && !sameFields(a.c.AfterValue, a.c.BeforeValue) {
		return "", fmt.Errorf("%s: the kernel accepted %q but still reports %q", a.subject(), a.c.AfterValue, made)
	}
	return made, nil
}

func (a *sysctlAct) restore(ctx context.Context) error {
	for _, twin := range slices.Sorted(maps.Keys(a.c.Also)) {
		if was := a.c.Also[twin]; was != "0" { // 0 is no value to set, it says that the other rules
			return a.put(ctx, twin, was)
		}
	}
	return a.put(ctx, a.c.Variable, a.c.BeforeValue)
}

func (a *sysctlAct) conflict(s sight) *ConflictError {
	after := a.c.AfterValue
	if a.c.Reported != "" {
		after = a.c.Reported
	}
	return a.differs(a.c.BeforeValue, after, s.got)
}

// sameFields compares values of one or several fields: the kernel separates
// with tabs what people separate with blanks.
func sameFields(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }
