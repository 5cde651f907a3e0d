package evidence

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// PHPOverride is a setting of PHP in Apache that does not come from php.ini:
// php_value and its like, in the configuration or in .htaccess.
type PHPOverride struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Where string `json:"where"` // "file:line"
	// Part: it holds for a part of the site only (a <Directory> below the
	// document root, <Location>, <Files>, .htaccess in a folder below).
	Part bool `json:"part,omitempty"`
}

// apachePHP finds the settings of PHP in Apache: its php.ini (kasoku.yaml, else
// PHPIniDir, else Debian's folder), the files beside it, and what they mean.
func (t *taker) apachePHP(h host.Host, svc *stack.Service, conf *apache.Config, r *fileReader, b *ApacheBuild) error {
	b.PHPVersion = stack.ApachePHPVersion(conf)
	if b.PHPVersion == "" {
		return nil
	}
	pool := path.Join("/etc/php", b.PHPVersion, "fpm/pool.d/www.conf")
	if _, err := r.read(pool); err == nil {
		b.FPMPool = pool
	}
	main := svc.PHPIni
	if main == "" {
		main = path.Join(stack.ApachePHPDir(conf, svc.Prefix, b.PHPVersion), "php.ini")
	}
	found, err := r.glob(main)
	if err != nil {
		return err
	}
	if len(found) == 0 && svc.PHPIni != "" {
		return fmt.Errorf("read %s (php_ini of %s): it does not exist", main, svc.Name)
	}
	for _, f := range found {
		if _, err := r.read(f); err != nil {
			return err
		}
		b.PHPMain = f
		b.PHPIni = append(b.PHPIni, f)
	}
	info, err := t.apachePHPInfo(h, svc, b, main)
	if err != nil {
		return err
	}
	for _, f := range info.Scanned {
		if _, err := r.read(f); err != nil {
			return err
		}
		b.PHPIni = append(b.PHPIni, f)
		// Debian links them to files that the cli and PHP-FPM read, too.
		if t.fixed[svc.HostName()] == nil {
			t.fixed[svc.HostName()] = map[string]bool{}
		}
		t.fixed[svc.HostName()][path.Clean(f)] = true
	}
	if len(info.Values) == 0 {
		return nil // told in Health
	}
	t.snap.PHP[svc.Name] = info.Values
	return nil
}

// cliOnly are settings that the command line's PHP sets for itself, whatever
// php.ini says (PHP manual, "Using PHP from the command line: differences to
// other SAPIs").
var cliOnly = []string{"html_errors", "implicit_flush", "max_execution_time", "max_input_time", "display_errors", "output_buffering", "register_argc_argv"}

// apachePHPInfo asks the command line's PHP of the same version what Apache's
// php.ini and scan folder mean: the module itself tells nobody.
func (t *taker) apachePHPInfo(h host.Host, svc *stack.Service, b *ApacheBuild, main string) (phpInfo, error) {
	dir := path.Join("/etc/php", b.PHPVersion, "apache2")
	argv := []string{"env", "PHP_INI_SCAN_DIR=" + scanDirs(b.ScanDir, path.Join(dir, "conf.d")), "php" + b.PHPVersion, "-c", main, "-i"}
	res, err := h.Run(t.ctx, host.Command{Argv: argv})
	if err != nil {
		return phpInfo{}, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	info := parsePHPInfo(res.Stdout)
	if len(info.Values) == 0 {
		t.bad("PHP in "+svc.Name, fmt.Errorf("%s told no settings (exit %d): %s; install php%s-cli", strings.Join(argv, " "), res.ExitCode, shorten(string(res.Stderr), 200), b.PHPVersion))
		return info, nil
	}
	for _, key := range cliOnly {
		delete(info.Values, key)
	}
	return info, nil
}

// scanDirs is PHP_INI_SCAN_DIR of the server with the compiled-in folder
// written out, which an empty part of it stands for (PHP manual, "The
// configuration file", "Scan directories").
func scanDirs(own, compiled string) string {
	if own == "" {
		return compiled
	}
	parts := strings.Split(own, ":")
	for i, p := range parts {
		if p == "" {
			parts[i] = compiled
		}
	}
	return strings.Join(parts, ":")
}

// phpOverrides lists php_value and its like in the configuration and the
// .htaccess files, and lays those of the whole site over php.ini's.
func (t *taker) phpOverrides(svc *stack.Service, conf *apache.Config, r *fileReader, b *ApacheBuild, roots []string) {
	values := t.snap.PHP[svc.Name]
	if values == nil {
		return
	}
	conf.Root.Walk(func(d *apache.Directive) bool {
		if d.State == apache.Inactive {
			return false
		}
		if phpDirective(d.Name) && len(d.Args) >= 2 {
			o := PHPOverride{Key: d.Args[0], Value: strings.Join(d.Args[1:], " "), Part: inPart(d, roots)}
			if d.File != nil {
				o.Where = fmt.Sprintf("%s:%d", d.File.Path, d.Line)
			}
			b.PHPOverrides = append(b.PHPOverrides, o)
		}
		return true
	})
	for _, file := range b.AccessFiles {
		data, err := r.read(file)
		if err != nil {
			continue // read before
		}
		for i, line := range strings.Split(string(data), "\n") {
			if w := strings.Fields(line); len(w) >= 3 && phpDirective(w[0]) {
				b.PHPOverrides = append(b.PHPOverrides, PHPOverride{Key: w[1], Value: strings.Trim(strings.Join(w[2:], " "), `"`),
					Where: fmt.Sprintf("%s:%d", file, i+1), Part: !slices.Contains(roots, path.Dir(file))})
			}
		}
	}
	for _, o := range b.PHPOverrides {
		// Shared memory is set up before, and OPcache can only be turned off
		// later on (see poolValues).
		if o.Part || startupOnly[o.Key] || o.Key == "opcache.enable" && !on(values[o.Key]) {
			continue
		}
		values[o.Key] = o.Value
	}
}

func phpDirective(name string) bool {
	switch strings.ToLower(name) {
	case "php_value", "php_flag", "php_admin_value", "php_admin_flag":
		return true
	}
	return false
}

// inPart reports whether a directive stands in a section that holds for less
// than a whole site.
func inPart(d *apache.Directive, roots []string) bool {
	for at := d.Parent; at != nil && at.Parent != nil; at = at.Parent {
		switch strings.ToLower(at.Name) {
		case "include", "includeoptional", "use", "ifmodule", "ifdefine", "ifversion", "iffile", "ifdirective", "ifsection", "virtualhost":
		case "directory":
			if len(at.Args) != 1 || !slices.ContainsFunc(roots, func(root string) bool { return stack.Below(path.Clean(at.Args[0]), root) }) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
