package kernel

import (
	"errors"
	"fmt"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

const (
	// leastFiles is where a raised limit begins, four times the usual soft one.
	leastFiles = 4096
	// mostFiles is the default of fs.nr_open, which no process may exceed
	// (sysctl/fs.rst).
	mostFiles = 1 << 20
)

// planFiles raises the limit of open files: of the host, or of a service by its
// own setting, which is read by a server that starts as root.
func planFiles(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	if f.Service == "" {
		return tuning{"kernel.files", one("fs.file-max", 2, 65536, 1<<40)}.plan(in, f)
	}
	now := in.Evidence.Services[f.Service].FileLimit
	n := min(max(4*now, leastFiles), mostFiles)
	if n <= now {
		return nil, fmt.Errorf("%s may open %d files already", f.Service, now)
	}
	cs, err := serviceFiles(in, in.Stack.Service(f.Service), n, f.Text)
	if err != nil {
		return nil, err
	}
	if len(cs) == 0 {
		return nil, errSet
	}
	return []planning.Plan{{ID: fmt.Sprintf("kernel.files:%s:%d", f.Service, n),
		Title: fmt.Sprintf("Let a process of %s open %d files instead of %d", f.Service, n, now), Changes: cs}}, nil
}

func serviceFiles(in planning.Input, svc *stack.Service, n int, why string) ([]change.Change, error) {
	if svc == nil {
		return nil, errors.New("the finding names no service of the stack")
	}
	value := strconv.Itoa(n)
	switch svc.Kind {
	case stack.Nginx:
		conf, err := diagnose.NginxConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		if err := setMain(conf, "worker_rlimit_nofile", value); err != nil {
			return nil, err
		}
		return planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Reload, why)
	case stack.PHPFPM:
		conf, err := diagnose.FPMConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		if err := conf.Set("global", "rlimit_files", value); err != nil {
			return nil, err
		}
		return planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
	case stack.MariaDB, stack.MySQL:
		conf, err := diagnose.MySQLConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		if err := setServer(conf, "open_files_limit", value); err != nil {
			return nil, err
		}
		// The server runs as its own user, so what its unit allows is the most.
		cs, err := planning.UnitFiles(in, svc, n, why)
		if err != nil {
			return nil, err
		}
		files, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
		return append(cs, files...), err
	case stack.Memcached, stack.Redis:
		// They set the limit by themselves to what their connections need.
		return nil, fmt.Errorf("%s may open as many files as it takes connections (%s)", svc.Name, map[stack.Kind]string{stack.Memcached: "-c", stack.Redis: "maxclients"}[svc.Kind])
	default: // its unit's limit is all that there is
	}
	if svc.ControlMethod() != stack.MethodSystemd {
		return nil, fmt.Errorf("%s has no setting of its own for it; its limit comes from who starts it (ulimit -n %d)", svc.Name, n)
	}
	// The rest take the soft limit as it is.
	return planning.SetUnit(in, svc, why, [2]string{"LimitNOFILE", value})
}

// setMain sets a directive of nginx's main context; a new one goes to the top.
func setMain(conf *nginx.Config, name, value string) error {
	if d := conf.Root.First(name); d != nil {
		return d.SetArgs(value)
	}
	if len(conf.Root.Children) == 0 {
		return errors.New("the configuration is empty")
	}
	return conf.Root.Children[0].InsertBefore(name + " " + value + ";")
}
