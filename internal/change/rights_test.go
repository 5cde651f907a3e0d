package change

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"kasoku/internal/stack"
)

// TestLacking: of every kind of change it is known before the start whether
// the right for it is there, on the host that it is made on.
func TestLacking(t *testing.T) {
	s := &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx}, {Name: "db", Kind: stack.MariaDB}, {Name: "shop", Kind: stack.App, RunsIn: "web"}}}
	for _, row := range []struct {
		name   string
		right  stack.Right
		change Change
	}{
		{"file", stack.Right{Need: stack.NeedWrite, Service: "web", Object: "/etc/a"}, Change{Kind: KindFile, Service: "web", Path: "/etc/a"}},
		{"file that cannot be checked", stack.Right{Need: stack.NeedValidate, Service: "web", Object: "*"}, Change{Kind: KindFile, Service: "web", Path: "/etc/a"}},
		{"reload", stack.Right{Need: stack.NeedReload, Service: "web", Object: "*"}, Change{Kind: KindRestart, Service: "web", Activate: Reload}},
		{"restart of an app's runner", stack.Right{Need: stack.NeedRestart, Service: "web", Object: "*"}, Change{Kind: KindExec, Service: "shop", Activate: Restart}},
		{"variable", stack.Right{Need: stack.NeedVariable, Service: "db", Object: "*"}, Change{Kind: KindVariable, Service: "db", Variable: "max_connections"}},
		{"index", stack.Right{Need: stack.NeedIndex, Service: "db", Object: "shop"}, Change{Kind: KindIndex, Service: "db", Index: &Index{Schema: "shop"}}},
		{"sysctl", stack.Right{Need: stack.NeedKernel, Object: "*"}, Change{Kind: KindSysctl, Variable: "net.core.somaxconn"}},
		{"package", stack.Right{Need: stack.NeedPackages, Object: "*"}, Change{Kind: KindPackage, Package: &Package{Name: "php-apcu"}}},
		{"unit", stack.Right{Need: stack.NeedUnits, Object: "*"}, Change{Kind: KindUnit, Unit: &Unit{Name: "a.service"}}},
		{"supervisor's program", stack.Right{Need: stack.NeedRestart, Service: "web", Object: "*"}, Change{Kind: KindUnit, Service: "web", Unit: &Unit{Name: "a", Supervisor: "/etc/s.conf"}}},
		{"commit", stack.Right{Need: stack.NeedCheckout, Service: "shop", Object: "/srv/shop"}, Change{Kind: KindGit, Service: "shop", Git: &Git{Dir: "/srv/shop"}}},
	} {
		row.right.Host, row.right.Why, row.right.Grant = stack.LocalHost, "it is not allowed", "allow it"
		lacking := Lacking(s, &stack.Rights{All: []stack.Right{row.right}}, []Change{row.change})
		var why *RightsError
		if !errors.As(lacking, &why) || !errors.Is(lacking, fs.ErrPermission) || !strings.Contains(lacking.Error(), "it is not allowed; to allow it: allow it") {
			t.Errorf("%s: lacking, and said is: %v", row.name, lacking)
		}
		row.right.Have = true
		if err := Lacking(s, &stack.Rights{All: []stack.Right{row.right}}, []Change{row.change}); err != nil {
			t.Errorf("%s: it is allowed, and said is: %v", row.name, err)
		}
		if err := Lacking(s, nil, []Change{row.change}); err != nil {
			t.Errorf("%s: nobody asked, and said is: %v", row.name, err)
		}
		// What one host does not allow another may.
		if row.right.Service == "" {
			row.right.Have, row.change.Host = false, "db1"
			if err := Lacking(s, &stack.Rights{All: []stack.Right{row.right}}, []Change{row.change}); err != nil {
				t.Errorf("%s: refused on another host: %v", row.name, err)
			}
		}
	}
}
