package evidence

import (
	"context"
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
	// UID and GID are its main process's, which opens its logs; -1: it does not
	// run.
	UID int `json:"uid"`
	GID int `json:"gid"`
	// AccessFiles are the .htaccess files in, above and below the folders that URLs
	// lead to: document roots, and those of Alias and ScriptAlias.
	AccessFiles []string `json:"access_files,omitempty"`
	// AccessFilesLeft is how many more there are, deeper below, that were not read.
	AccessFilesLeft int `json:"access_files_left,omitempty"`
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
	b := apacheBuild(t.ctx, h, t.st, svc, r)
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
	if err := t.accessFiles(h, svc, shownFolders(conf), r, &b); err != nil {
		return err
	}
	t.phpOverrides(svc, conf, r, &b, roots)
	if t.snap.Apache == nil {
		t.snap.Apache = map[string]ApacheBuild{}
	}
	t.snap.Apache[svc.Name] = b
	return nil
}

// apacheBuild is what the configuration is read with: envvars beside it, the
// arguments of its start, and the running server, which counts more.
func apacheBuild(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service, r *fileReader) ApacheBuild {
	b := ApacheBuild{Env: map[string]string{}, UID: -1, GID: -1}
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
	pids, err := servicePIDs(ctx, h, st, svc)
	if err != nil || len(pids) == 0 {
		return b
	}
	proc := fmt.Sprintf("/proc/%d", pids[0])
	if info, err := h.Stat(ctx, proc); err == nil {
		b.UID, b.GID = info.UID, info.GID
	}
	data, err := h.ReadFile(ctx, proc+"/environ")
	if err != nil {
		return b
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
	return b
}

// shownFolders are the document roots, and what Alias and ScriptAlias name.
func shownFolders(conf *apache.Config) []string {
	folders := documentRoots(conf)
	conf.Root.Walk(func(d *apache.Directive) bool {
		if (d.Is("Alias") || d.Is("ScriptAlias")) && len(d.Args) > 0 && d.State != apache.Inactive {
			if at := path.Clean(d.Args[len(d.Args)-1]); path.IsAbs(at) && !slices.Contains(folders, at) {
				folders = append(folders, at)
			}
		}
		return true
	})
	return folders
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

// accessFiles reads the .htaccess files in, above and below the folders.
func (t *taker) accessFiles(h host.Host, svc *stack.Service, roots []string, r *fileReader, b *ApacheBuild) error {
	if len(roots) == 0 {
		return nil
	}
	argv := append([]string{"find", "-H"}, roots...)
	for _, r := range roots {
		for at := r; at != "/"; {
			at = path.Dir(at)
			if f := path.Join(at, ".htaccess"); !slices.Contains(argv, f) {
				argv = append(argv, f)
			}
		}
	}
	res, err := h.Run(t.ctx, host.Command{Argv: append(argv, "-xdev", "-maxdepth", "12", "-name", ".htaccess", "-type", "f", "-print0")})
	if err != nil {
		return fmt.Errorf("look for .htaccess files of %s: %w", svc.Name, err)
	}
	found := strings.FieldsFunc(string(res.Stdout), func(c rune) bool { return c == 0 })
	slices.Sort(found)
	found = slices.Compact(found)
	if left := len(found) - maxAccessFiles; left > 0 {
		slices.SortStableFunc(found, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
		found = found[:maxAccessFiles]
		slices.Sort(found)
		b.AccessFilesLeft = left
		t.bad(svc.Name+"'s .htaccess files", fmt.Errorf("%d of them were read, %d deeper ones were not; what needs to know all of them is not planned", maxAccessFiles, left))
	}
	for _, f := range found {
		if _, err := r.read(f); err != nil {
			return err
		}
	}
	b.AccessFiles = found
	return nil
}
