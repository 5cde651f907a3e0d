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

// ApacheBuild is what an Apache's configuration means beyond its files.
type ApacheBuild struct {
	// Env and Defines are what its configuration is read with: variables whose
	// names begin with APACHE_, and apache2 -D.
	Env     map[string]string `json:"env,omitempty"`
	Defines []string          `json:"defines,omitempty"`
	// AccessFiles are the .htaccess files below its document roots.
	AccessFiles []string `json:"access_files,omitempty"`
	// PHPIni are the php.ini and the scanned files of PHP in Apache, in the
	// order read; none if PHP is not in it. PHPMain is the php.ini among them,
	// "" if there is none.
	PHPIni  []string `json:"php_ini,omitempty"`
	PHPMain string   `json:"php_main,omitempty"`
	// PHPOverrides are PHP's settings in Apache's own configuration.
	PHPOverrides []PHPOverride `json:"php_overrides,omitempty"`
	// ScanDir is PHP_INI_SCAN_DIR of the running server, "" if it has none.
	ScanDir string `json:"scan_dir,omitempty"`
	// PHPVersion is "8.2" if PHP is a module; FPMPool is the default pool of
	// the same version's PHP-FPM, "" if that is not installed.
	PHPVersion string `json:"php_version,omitempty"`
	FPMPool    string `json:"fpm_pool,omitempty"`
}

// maxAccessFiles bounds the .htaccess files that are read.
const maxAccessFiles = 500

// modulesOfInterest are those that remedies switch.
var modulesOfInterest = []string{"mpm_*", "proxy.*", "proxy_fcgi.*", "setenvif.*", "deflate.*", "filter.*", "mime.*", "php*", "remoteip.*"}

// Options are those that the configuration is to be read with.
func (b ApacheBuild) Options(svc *stack.Service) apache.Options {
	return apache.Options{Root: svc.Prefix, Env: b.Env, Defines: b.Defines, Version: svc.Version}
}

// apache reads the configuration as the server does, and what else decides
// what PHP in it does.
func (t *taker) apache(h host.Host, svc *stack.Service, r *fileReader) error {
	b := ApacheBuild{Env: map[string]string{}}
	if text, err := r.read(path.Join(path.Dir(svc.Config), "envvars")); err == nil {
		b.Env = apache.Environment(text)
	}
	for i, a := range svc.Control.Start {
		if a == "-D" && i+1 < len(svc.Control.Start) {
			b.Defines = append(b.Defines, svc.Control.Start[i+1])
		} else if name, ok := strings.CutPrefix(a, "-D"); ok && name != "" {
			b.Defines = append(b.Defines, name)
		}
	}
	t.apacheProcess(h, svc, &b)
	conf, err := apache.Load(svc.Config, b.Options(svc), r.read, r.glob)
	if err != nil {
		return err
	}
	dir := path.Dir(svc.Config)
	for _, pattern := range modulesOfInterest {
		found, err := r.glob(path.Join(dir, "mods-available", pattern))
		if err != nil {
			return err
		}
		for _, f := range found {
			if _, err := r.read(f); err != nil {
				return err
			}
		}
	}
	if err := t.apachePHP(h, svc, conf, r, &b); err != nil {
		return err
	}
	roots := documentRoots(conf)
	if err := t.accessFiles(h, svc, roots, r, &b); err != nil {
		return err
	}
	t.phpOverrides(svc, conf, r, &b, roots)
	if t.snap.Apache == nil {
		t.snap.Apache = map[string]ApacheBuild{}
	}
	t.snap.Apache[svc.Name] = b
	return nil
}

// apacheProcess adds the running server's variables, which count more than
// what envvars says.
func (t *taker) apacheProcess(h host.Host, svc *stack.Service, b *ApacheBuild) {
	pids, err := servicePIDs(t.ctx, h, t.st, svc)
	if err != nil {
		return
	}
	data, err := h.ReadFile(t.ctx, fmt.Sprintf("/proc/%d/environ", pids[0]))
	if err != nil {
		return
	}
	for pair := range strings.SplitSeq(string(data), "\x00") {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case strings.HasPrefix(name, "APACHE_"):
			b.Env[name] = value
		case name == "PHP_INI_SCAN_DIR":
			b.ScanDir = value
		}
	}
}

// documentRoots are those of the main server and of all virtual hosts.
func documentRoots(conf *apache.Config) []string {
	var roots []string
	for _, v := range append(conf.VirtualHosts(), nil) {
		root, err := conf.Value("DocumentRoot", v)
		if err == nil && path.IsAbs(root.Text) && !slices.Contains(roots, path.Clean(root.Text)) {
			roots = append(roots, path.Clean(root.Text))
		}
	}
	return roots
}

// accessFiles reads the .htaccess files below the document roots.
func (t *taker) accessFiles(h host.Host, svc *stack.Service, roots []string, r *fileReader, b *ApacheBuild) error {
	if len(roots) == 0 {
		return nil
	}
	argv := append([]string{"find", "-H"}, roots...)
	res, err := h.Run(t.ctx, host.Command{Argv: append(argv, "-xdev", "-maxdepth", "12", "-name", ".htaccess", "-type", "f", "-print0")})
	if err != nil {
		return fmt.Errorf("look for .htaccess files of %s: %w", svc.Name, err)
	}
	for f := range strings.SplitSeq(strings.TrimSuffix(string(res.Stdout), "\x00"), "\x00") {
		if f == "" || slices.Contains(b.AccessFiles, f) {
			continue
		}
		if len(b.AccessFiles) == maxAccessFiles {
			return fmt.Errorf("%s has more than %d .htaccess files", svc.Name, maxAccessFiles)
		}
		if _, err := r.read(f); err != nil {
			return err
		}
		b.AccessFiles = append(b.AccessFiles, f)
	}
	slices.Sort(b.AccessFiles)
	return nil
}
