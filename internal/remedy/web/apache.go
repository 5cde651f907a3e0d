package web

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planEventFPM moves PHP out of Apache's processes: event workers in place of
// prefork, and PHP-FPM in place of the module. PHP-FPM is ready before Apache
// is restarted. Where PHP-FPM is a service of the stack it gets a pool of its
// own for this; else Debian's package and its default pool are taken.
func planEventFPM(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	conf, err := diagnose.ApacheConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	mods, err := diagnose.ApacheModules(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	module := ""
	for _, name := range mods.Enabled() {
		if strings.HasPrefix(name, "php") {
			module = name
		}
	}
	if module == "" {
		return nil, fmt.Errorf("PHP is not enabled as one of Debian's modules")
	}
	if err := onlyForModPHP(in, svc, conf, module); err != nil {
		return nil, err
	}
	links, err := mods.SwitchMPM("event", module)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"proxy_fcgi", "setenvif"} {
		more, err := mods.Enable(name)
		if err != nil {
			return nil, err
		}
		links = append(links, more...)
	}
	p, err := poolFor(in, svc)
	if err != nil {
		return nil, err
	}
	for i := range p.changes {
		p.changes[i].Why = f.Text
	}
	if err := conf.Root.Append(fmt.Sprintf(toFPM, p.endpoint)); err != nil {
		return nil, err
	}
	files, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		files = append(files, change.Change{Kind: change.KindLink, Host: planning.HostOf(svc), Service: svc.Name, Activate: change.Restart,
			Path: l.Path, Link: &change.Link{Target: l.Target, Remove: l.Remove}, Why: f.Text, Command: linkCommand(l)})
	}
	for i := range files {
		files[i].Phase = 1
	}
	return []planning.Plan{{ID: "apache.event-fpm:" + svc.Name, Changes: append(p.changes, files...),
		Title: fmt.Sprintf("Run %s with event workers and PHP in %s instead of in each process", svc.Name, p.name)}}, nil
}

func linkCommand(l apache.Link) string {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(l.Path), ".load"), ".conf")
	if l.Remove {
		return "a2dismod " + name
	}
	return "a2enmod " + name
}

// toFPM hands scripts that are there to PHP-FPM, as Debian's conf-available/
// php8.2-fpm.conf does; for others Apache answers as before. %s is the socket.
const toFPM = `
# PHP by PHP-FPM
SetEnvIfNoCase ^Authorization$ "(.+)" HTTP_AUTHORIZATION=$1
<FilesMatch ".+\.ph(?:ar|p|tml)$">
    <If "-f %%{REQUEST_FILENAME}">
        SetHandler "proxy:%s|fcgi://localhost"
    </If>
</FilesMatch>
<FilesMatch ".+\.phps$">
    Require all denied
</FilesMatch>
<FilesMatch "^\.ph(?:ar|p|ps|tml)$">
    Require all denied
</FilesMatch>`

// onlyForModPHP refuses what PHP outside of Apache would not see: php_value and
// its like, and scripts by other handlers than the module's own file sets.
func onlyForModPHP(in planning.Input, svc *stack.Service, conf *apache.Config, module string) error {
	own := module + ".conf"
	var bad error
	look := func(d *apache.Directive) bool {
		if d.State == apache.Inactive || bad != nil {
			return false
		}
		if d.File != nil && path.Base(d.File.Path) == own {
			return true // goes with the module
		}
		name, where := strings.ToLower(d.Name), ""
		if d.File != nil {
			where = fmt.Sprintf("%s:%d: ", d.File.Path, d.Line)
		}
		switch name {
		case "phpinidir":
			if !conditional(d) {
				bad = fmt.Errorf("%s%s would be unknown to Apache; write it in <IfModule php_module>", where, d.Name)
			}
		case "php_value", "php_flag", "php_admin_value", "php_admin_flag":
			bad = fmt.Errorf("%s%s is for PHP inside Apache only; write it into PHP-FPM's pool or a .user.ini first", where, d.Name)
		case "sethandler", "addhandler", "addtype":
			if slices.ContainsFunc(d.Args, func(a string) bool { return strings.Contains(a, "x-httpd-php") || a == "php-script" }) {
				bad = fmt.Errorf("%s%s hands files to PHP inside Apache", where, d.Name)
			}
		}
		return bad == nil
	}
	conf.Root.Walk(look)
	build := in.Snapshot.Apache[svc.Name]
	if build.AccessFilesLeft > 0 && bad == nil {
		bad = fmt.Errorf("%d .htaccess files of %s were not read, so whether one is for PHP inside Apache is not known", build.AccessFilesLeft, svc.Name)
	}
	for _, file := range build.AccessFiles {
		if bad != nil {
			break
		}
		text := in.Snapshot.Files[planning.HostOf(svc)][file].Content
		if m := modPHPLine.FindSubmatch(text); m != nil {
			bad = fmt.Errorf("%s: %s is for PHP inside Apache only; write it into PHP-FPM's pool or a .user.ini first", file, m[1])
		}
	}
	return bad
}

// conditional reports whether a directive is in <IfModule>.
func conditional(d *apache.Directive) bool {
	for at := d.Parent; at != nil; at = at.Parent {
		if at.Is("IfModule") {
			return true
		}
	}
	return false
}

// modPHPLine are lines of .htaccess that only PHP inside Apache obeys. Those in
// <IfModule> are named too: they would silently count no more.
var modPHPLine = regexp.MustCompile(`(?mi)^\s*(php_(?:admin_)?(?:value|flag)|(?:SetHandler|AddHandler|AddType)\s[^\n]*(?:x-httpd-php|php-script))\b`)

// fpmPool is where PHP will run.
type fpmPool struct {
	name, endpoint string
	changes        []change.Change
}

func poolFor(in planning.Input, svc *stack.Service) (fpmPool, error) {
	user, known := in.Snapshot.Users[planning.HostOf(svc)+"/"+svc.Name]
	if !known {
		return fpmPool{}, fmt.Errorf("the user of %s's workers is not known, so PHP cannot run as the same", svc.Name)
	}
	for _, fpm := range in.Stack.OfKind(stack.PHPFPM) {
		if planning.HostOf(fpm) == planning.HostOf(svc) {
			return ownPool(in, svc, fpm, user)
		}
	}
	return debianPool(in, svc, user)
}

// ownPool adds a pool to a PHP-FPM of the stack.
func ownPool(in planning.Input, svc, fpm *stack.Service, user evidence.ProcessUser) (fpmPool, error) {
	conf, err := diagnose.FPMConfig(in.Snapshot, fpm)
	if err != nil {
		return fpmPool{}, err
	}
	pool := "kasoku-" + svc.Name
	if slices.Contains(conf.Sections(), pool) {
		return fpmPool{}, fmt.Errorf("there is a pool %s already", pool)
	}
	if v := in.Snapshot.Apache[svc.Name].PHPVersion; v != "" && !strings.HasPrefix(in.Snapshot.PHP[fpm.Name]["version"], v+".") {
		return fpmPool{}, fmt.Errorf("PHP in %s is %s, in %s %s", svc.Name, v, fpm.Name, in.Snapshot.PHP[fpm.Name]["version"])
	}
	socket, err := socketPath(in, fpm, svc.Name)
	if err != nil {
		return fpmPool{}, err
	}
	carried, err := carryOver(in, svc, fpm)
	if err != nil {
		return fpmPool{}, err
	}
	root := planning.MachineOf(in, fpm).Root
	own := in.Snapshot.Users[planning.HostOf(fpm)+"/"+fpm.Name]
	if !root && own.UID != user.UID {
		return fpmPool{}, fmt.Errorf("%s runs as another user than %s, and only root can change that", fpm.Name, svc.Name)
	}
	sets := [][2]string{{"listen", socket}, {"listen.backlog", strconv.Itoa(planning.SocketBacklog)}}
	if root {
		name, group := planning.NameOr(user.Name, user.UID), planning.NameOr(user.Group, user.GID)
		sets = append(sets, [2]string{"user", name}, [2]string{"group", group}, [2]string{"listen.owner", name}, [2]string{"listen.group", group}, [2]string{"listen.mode", "0600"})
	}
	sets = append(sets, [2]string{"pm", "static"}, [2]string{"pm.max_children", strconv.Itoa(childrenFor(in, svc))},
		[2]string{"security.limit_extensions", ".php .phar .phtml"})
	for _, kv := range append(sets, carried...) {
		if err := conf.Set(pool, kv[0], kv[1]); err != nil {
			return fpmPool{}, err
		}
	}
	changes, err := planning.FileChanges(in.Snapshot, fpm, conf.Changed(), change.Reload, "")
	return fpmPool{fpm.Name, "unix:" + socket, changes}, err
}

// childrenFor is how many PHP processes take Apache's place: two for each user
// of the load, as many as prefork allowed at most, and no more than its
// processes took memory. php.workers looks for the best number afterwards.
func childrenFor(in planning.Input, svc *stack.Service) int {
	n := max(4, 2*in.Evidence.Load.Workload)
	if conf, err := diagnose.ApacheConfig(in.Snapshot, svc); err == nil {
		if v, err := conf.Value("MaxRequestWorkers", nil); err == nil {
			if limit, err := strconv.Atoi(v.Text); err == nil {
				n = min(n, limit)
			}
		}
	}
	use := in.Evidence.Services[svc.Name]
	if room := planning.SpareMemory(in, svc); use.Processes > 0 && use.RSS > 0 && room != 0 {
		n = min(n, int((max(room, 0)+use.RSS)/(use.RSS/int64(use.Processes)+1)))
	}
	return max(n, 1)
}

// carryOver are the settings of PHP in Apache that PHP-FPM has not, as lines of
// its pool. An extension that PHP-FPM has not is an error.
func carryOver(in planning.Input, svc, fpm *stack.Service) ([][2]string, error) {
	host := planning.HostOf(svc)
	here, err := phpValues(in, svc, in.Snapshot.Apache[svc.Name].PHPIni)
	if err != nil {
		return nil, err
	}
	var files []string
	for p, f := range in.Snapshot.Files[host] {
		if f.Service == fpm.Name && strings.HasSuffix(p, ".ini") {
			files = append(files, p)
		}
	}
	sort.Slice(files, func(i, j int) bool { // php.ini before the scanned ones
		if (files[i] == fpm.PHPIni) != (files[j] == fpm.PHPIni) {
			return files[i] == fpm.PHPIni
		}
		return files[i] < files[j]
	})
	there, err := phpValues(in, fpm, files)
	if err != nil {
		return nil, err
	}
	for e := range here.extensions {
		if !there.extensions[e] {
			return nil, fmt.Errorf("PHP in %s has the extension %s, PHP-FPM has not", svc.Name, e)
		}
	}
	var out [][2]string
	for key, v := range here.values {
		if there.values[key] != v {
			out = append(out, [2]string{"php_value[" + key + "]", v})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out, nil
}

// phpSettings is what ini files set.
type phpSettings struct {
	values     map[string]string
	extensions map[string]bool
}

func phpValues(in planning.Input, svc *stack.Service, files []string) (phpSettings, error) {
	out := phpSettings{map[string]string{}, map[string]bool{}}
	for _, file := range files {
		conf, err := diagnose.PHPIni(in.Snapshot, svc, file)
		if err != nil {
			return out, err
		}
		// PHP makes nothing of sections but [PATH=] and [HOST=], which the editor
		// leaves out.
		for _, key := range conf.Keys("") {
			v, ok := conf.Get("", key)
			switch {
			case !ok:
			case key == "extension" || key == "zend_extension":
				out.extensions[strings.TrimSuffix(path.Base(v.Text), ".so")] = true
			default:
				out.values[key] = v.Text
			}
		}
	}
	return out, nil
}

// debianPool takes the default pool of Debian's package, which is installed if
// it is not there.
func debianPool(in planning.Input, svc *stack.Service, user evidence.ProcessUser) (fpmPool, error) {
	b := in.Snapshot.Apache[svc.Name]
	if b.PHPVersion == "" {
		return fpmPool{}, fmt.Errorf("the version of PHP in %s is not known, so its PHP-FPM cannot be chosen", svc.Name)
	}
	if user.Name != "" && user.Name != "www-data" {
		return fpmPool{}, fmt.Errorf("%s runs as %s, the default pool of php%s-fpm as www-data; make a PHP-FPM pool for it and add it to kasoku.yaml", svc.Name, user.Name, b.PHPVersion)
	}
	name := "php" + b.PHPVersion + "-fpm"
	p := fpmPool{name: name, endpoint: "unix:/run/php/" + name + ".sock"}
	c := change.Change{Host: planning.HostOf(svc)}
	if b.FPMPool == "" {
		if !in.Stack.Regulation.Install {
			return p, fmt.Errorf("%s would have to be installed, which the regulation does not permit (install)", name)
		}
		c.Kind, c.Package = change.KindPackage, &change.Package{Name: name, Version: "candidate", Start: true}
		c.Command = "apt-get install " + name
	} else {
		f := in.Snapshot.Files[planning.HostOf(svc)][b.FPMPool]
		pool, err := ini.Load(b.FPMPool, ini.FPM, func(string) ([]byte, error) { return f.Content, nil }, func(string) ([]string, error) { return nil, nil })
		if err != nil {
			return p, err
		}
		listen, ok := pool.Get("www", "listen")
		if !ok || !strings.HasPrefix(listen.Text, "/") {
			return p, fmt.Errorf("%s has no pool www on a socket; add PHP-FPM to kasoku.yaml", b.FPMPool)
		}
		p.endpoint = "unix:" + listen.Text
		c.Kind, c.Unit = change.KindUnit, &change.Unit{Name: name + ".service", After: change.UnitState{Enabled: "enabled", Active: "active"}}
		c.Command = "systemctl enable --now " + name
	}
	p.changes = []change.Change{c}
	return p, nil
}
