package stack

import (
	"fmt"
	"path"
	"strings"
)

// validatePaths requires absolute paths of a service on another host, where
// kasoku.yaml's folder is not. (Those of this machine are absolute by now.)
func validatePaths(d *document, at string, svc *Service) {
	if svc.HostName() == LocalHost {
		return
	}
	check := func(key, p string) {
		if p != "" && p[0] != '@' && !path.IsAbs(p) {
			d.report(at+"."+key, "%q is relative to nothing on host %s; write an absolute path", p, svc.Host)
		}
	}
	check("config", svc.Config)
	check("prefix", svc.Prefix)
	check("php_ini", svc.PHPIni)
	check("root", svc.Root)
	check("access_log", svc.AccessLog)
	check("control.pid_file", svc.Control.PIDFile)
	check("control.env_file", svc.Control.EnvFile)
	if svc.Build != nil {
		check("build.dir", svc.Build.Dir)
	}
	if strings.Contains(svc.Binary, "/") {
		check("binary", svc.Binary)
	}
	for i, p := range svc.Settings {
		check(fmt.Sprintf("settings[%d]", i), p)
	}
	for i, p := range svc.Logs {
		check(fmt.Sprintf("logs[%d]", i), p)
	}
	for i, l := range svc.Listen {
		if p, ok := strings.CutPrefix(l, "unix:"); ok {
			check(fmt.Sprintf("listen[%d]", i), p)
		}
	}
	for key, argv := range map[string][]string{"start": svc.Control.Start, "stop": svc.Control.Stop, "reload": svc.Control.Reload, "check": svc.Control.Check} {
		if len(argv) > 0 && strings.Contains(argv[0], "/") {
			check("control."+key, argv[0])
		}
	}
	if l := svc.Login; l != nil {
		check("login.password_file", l.PasswordFile)
		check("login.defaults_file", l.DefaultsFile)
		check("login.socket", l.Socket)
	}
}
