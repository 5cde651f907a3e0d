package remedy_test

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// apacheWorld is a site of prefork and mod_php in Debian's layout. edit may
// change its files; withFPM leaves PHP-FPM in the stack.
func apacheWorld(withFPM bool, edit map[string]string) remedy.Input {
	in := remedytest.World(nil)
	in.Stack.Services = []stack.Service{{Name: "httpd", Kind: stack.Apache, Config: "/etc/apache2/apache2.conf", Prefix: "/etc/apache2"}, in.Stack.Services[1]}
	if !withFPM {
		in.Stack.Services = in.Stack.Services[:1]
	}
	files := map[string]string{
		"apache2.conf":                    "IncludeOptional mods-enabled/*.load\nIncludeOptional mods-enabled/*.conf\nDocumentRoot /srv/www\n",
		"mods-available/php8.2.load":      "# Depends: mpm_prefork\nLoadModule php_module /usr/lib/apache2/modules/libphp8.2.so\n",
		"mods-available/php8.2.conf":      "<FilesMatch \".+\\.php$\">\nSetHandler application/x-httpd-php\n</FilesMatch>\n",
		"mods-available/mpm_prefork.load": "# Conflicts: mpm_event mpm_worker\nLoadModule mpm_prefork_module x.so\n",
		"mods-available/mpm_event.load":   "# Conflicts: mpm_worker mpm_prefork\nLoadModule mpm_event_module x.so\n",
		"mods-available/proxy.load":       "LoadModule proxy_module x.so\n",
		"mods-available/proxy_fcgi.load":  "# Depends: proxy\nLoadModule proxy_fcgi_module x.so\n",
		"mods-available/setenvif.load":    "LoadModule setenvif_module x.so\n",
	}
	for _, m := range []string{"php8.2.load", "php8.2.conf", "mpm_prefork.load"} {
		files["mods-enabled/"+m] = files["mods-available/"+m]
	}
	for name, text := range edit {
		files[name] = text
	}
	b := evidence.ApacheBuild{PHPVersion: "8.2", PHPIni: []string{"/etc/apache2/php.ini"}}
	for name, text := range files {
		p := "/etc/apache2/" + name
		in.Snapshot.Files["local"][p] = evidence.File{Content: []byte(text), Mode: 0o644, Service: "httpd", Writable: true}
		if strings.HasSuffix(name, ".htaccess") {
			b.AccessFiles = append(b.AccessFiles, p)
		}
	}
	if _, ok := edit["php.ini"]; !ok {
		b.PHPIni = nil
	}
	in.Snapshot.Apache = map[string]evidence.ApacheBuild{"httpd": b}
	in.Snapshot.Users["local/httpd"] = evidence.ProcessUser{UID: 33, GID: 33, Name: "www-data", Group: "www-data"}
	in.Evidence.Services["httpd"] = evidence.ServiceUse{CPU: 10, Processes: 10, RSS: 300 << 20}
	return in
}

func changeKinds(p remedy.Plan) string {
	var out []string
	for _, c := range p.Changes {
		s := string(c.Kind)
		if c.Kind == change.KindLink {
			s = map[bool]string{true: "-", false: "+"}[c.Link.Remove] + strings.TrimPrefix(c.Path, "/etc/apache2/mods-enabled/")
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestEventFPMIntoAPoolOfTheStack(t *testing.T) {
	p := remedytest.Want(t, apacheWorld(true, map[string]string{"php.ini": "[PHP]\nmemory_limit = 512M\n"}), "apache.event-fpm")
	if got, want := changeKinds(p), "file file -php8.2.load -php8.2.conf -mpm_prefork.load +mpm_event.load +proxy.load +proxy_fcgi.load +setenvif.load"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if p.Changes[0].Phase != 0 || p.Changes[0].Activate != change.Reload || p.Changes[1].Phase != 1 || p.Changes[1].Activate != change.Restart {
		t.Error("PHP-FPM is not ready before Apache is restarted")
	}
	remedytest.Has(t, remedytest.After(p, remedytest.FPMPath), "[kasoku-httpd]", "user = www-data", "listen.mode = 0600", "pm.max_children = 16", "php_value[memory_limit] = 512M")
	remedytest.Has(t, remedytest.After(p, "/etc/apache2/apache2.conf"), `SetHandler "proxy:unix:/run/kasoku-php-httpd.sock|fcgi://localhost"`, `<If "-f %{REQUEST_FILENAME}">`)
}

func TestEventFPMByDebiansPackage(t *testing.T) {
	in := apacheWorld(false, nil)
	remedytest.WantNone(t, in, "apache.event-fpm", "does not permit")
	in.Stack.Regulation.Install = true
	p := remedytest.Want(t, in, "apache.event-fpm")
	if !strings.HasPrefix(changeKinds(p), "package file -") || p.Changes[0].Package.Name != "php8.2-fpm" {
		t.Errorf("%s %+v", changeKinds(p), p.Changes[0].Package)
	}
	in = apacheWorld(false, map[string]string{"www.conf": "[www]\nlisten = /run/php/php8.2-fpm.sock\n"})
	b := in.Snapshot.Apache["httpd"]
	b.FPMPool = "/etc/apache2/www.conf"
	in.Snapshot.Apache["httpd"] = b
	if p := remedytest.Want(t, in, "apache.event-fpm"); !strings.HasPrefix(changeKinds(p), "unit file -") || p.Changes[0].Unit.Name != "php8.2-fpm.service" {
		t.Errorf("%s", changeKinds(p))
	}
}

func TestEventFPMRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		why   string
	}{
		"php_value in .htaccess": {map[string]string{"www/.htaccess": "RewriteEngine on\n php_value memory_limit 64M\n"}, "www/.htaccess: php_value"},
		"handler in .htaccess":   {map[string]string{"www/.htaccess": "AddHandler application/x-httpd-php .html\n"}, "AddHandler"},
		"php_admin_value":        {map[string]string{"mods-enabled/x.conf": "<Directory /srv>\nphp_admin_value open_basedir /srv\n</Directory>\n"}, "x.conf:2: php_admin_value"},
		"other files as PHP":     {map[string]string{"mods-enabled/x.conf": "<FilesMatch \\.html$>\nSetHandler application/x-httpd-php\n</FilesMatch>\n"}, "hands files to PHP"},
		"PHPIniDir":              {map[string]string{"mods-enabled/x.conf": "PHPIniDir /srv\n"}, "IfModule"},
		"another that depends":   {map[string]string{"mods-enabled/itk.load": "# Depends: mpm_prefork\nLoadModule mpm_itk_module y.so\n", "mods-available/itk.load": "# Depends: mpm_prefork\n"}, "itk"},
		"extension":              {map[string]string{"php.ini": "extension = special.so\n"}, "special"},
	} {
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, apacheWorld(true, c.files), "apache.event-fpm", c.why) })
	}
	in := apacheWorld(true, nil)
	moreAccessFiles(&in)
	remedytest.WantNone(t, in, "apache.event-fpm", "7 .htaccess files of httpd were not read")
	in = apacheWorld(true, nil)
	in.Snapshot.PHP["php"]["version"] = "7.4.33"
	remedytest.WantNone(t, in, "apache.event-fpm", "PHP in httpd is 8.2")
	in = apacheWorld(true, nil)
	delete(in.Snapshot.Users, "local/httpd")
	remedytest.WantNone(t, in, "apache.event-fpm", "not known")
}
