package confedit_test

import (
	"fmt"
	"io/fs"
	"strings"

	"kasoku/internal/confedit/haproxy"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/memcached"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/confedit/redis"
	"kasoku/internal/confedit/supervisor"
	"kasoku/internal/confedit/sysctl"
	"kasoku/internal/confedit/textedit"
	"kasoku/internal/confedit/unit"
)

// try makes one edit of a file that is read afresh and returns its new bytes;
// an error where the edit fails or does not read back.
type try func() ([]byte, error)

// editors print a file and list the edits to try, by kind.
var editors = map[string]func(file) ([]byte, []try, error){
	"sysctl": trySysctl, "redis": tryRedis, "memcached": tryMemcached, "unit": tryUnit, "env": tryEnv, "supervisor": trySupervisor, "nginx": tryNginx, "haproxy": tryHAProxy,
	"mysql": func(f file) ([]byte, []try, error) { return tryINI(f, ini.MySQL) },
	"php":   func(f file) ([]byte, []try, error) { return tryINI(f, ini.PHP) },
	"fpm":   func(f file) ([]byte, []try, error) { return tryINI(f, ini.FPM) },
}

const fresh = "73571"

// verdict requires that the edits made now of the file, and that it reads back.
func (f file) verdict(now []byte, got string, err error, edits ...textedit.Edit) ([]byte, error) {
	if err == nil && textedit.Apply(string(f.data), edits...) != string(now) {
		err = fmt.Errorf("the reported edits %+v do not make the new text", edits)
	}
	if err == nil && got != fresh {
		err = fmt.Errorf("it reads back as %q", got)
	}
	return now, err
}

func trySysctl(f file) ([]byte, []try, error) {
	c := sysctl.Parse(f.name, f.data)
	var out []try
	for _, k := range append(c.Keys(), "net.core.somaxconn") {
		if strings.Contains(k, "*") {
			continue
		}
		out = append(out, func() ([]byte, error) {
			c := sysctl.Parse(f.name, f.data)
			e, err := c.Set(k, fresh, f.name)
			v, _ := sysctl.Parse(f.name, c.Files[0].Bytes()).Get(k)
			return f.verdict(c.Files[0].Bytes(), v.Text, err, e)
		})
	}
	return c.Files[0].Bytes(), out, nil
}

func tryRedis(f file) ([]byte, []try, error) {
	c := redis.Parse(f.name, f.data)
	var out []try
	for _, n := range append(c.Names(), "maxclients", "io-threads") {
		if n == "save" || n == "include" || n == "client-output-buffer-limit" || n == "user" {
			continue
		}
		out = append(out, func() ([]byte, error) {
			c := redis.Parse(f.name, f.data)
			edits, err := c.Set(n, fresh)
			v, _ := redis.Parse(f.name, c.Files[0].Bytes()).Get(n)
			return f.verdict(c.Files[0].Bytes(), strings.Join(v.Args, " "), err, edits...)
		})
	}
	return c.Files[0].Bytes(), out, c.Err()
}

func tryMemcached(f file) ([]byte, []try, error) {
	c := memcached.Parse(f.name, f.data)
	var out []try
	for _, n := range []string{"-m", "-p", "-l", "-c", "-t", "--listen-backlog", "-u"} {
		out = append(out, func() ([]byte, error) {
			c := memcached.Parse(f.name, f.data)
			e, err := c.Set(n, fresh)
			v, _ := memcached.Parse(f.name, c.Bytes()).Get(n)
			return f.verdict(c.Bytes(), v.Text, err, e)
		})
	}
	return c.Bytes(), out, c.Err()
}

func tryUnit(f file) ([]byte, []try, error) {
	c := unit.Parse(f.name, f.data)
	var out []try
	for _, s := range c.Sections() {
		for _, k := range append(c.Keys(s), "LimitNOFILE") {
			out = append(out, func() ([]byte, error) {
				c := unit.Parse(f.name, f.data)
				e, err := c.Set(s, k, fresh, f.name)
				v, _ := unit.Parse(f.name, c.Files[0].Bytes()).Get(s, k)
				return f.verdict(c.Files[0].Bytes(), v.Text, err, e)
			})
		}
	}
	return c.Files[0].Bytes(), out, nil
}

func tryEnv(f file) ([]byte, []try, error) {
	c := unit.ParseEnv(f.name, f.data)
	var out []try
	for _, k := range append(c.Keys(), "DAEMON_OPTS") {
		if strings.ContainsAny(k, " \t(){}[]$\"'`") {
			continue // a line of a shell script
		}
		out = append(out, func() ([]byte, error) {
			c := unit.ParseEnv(f.name, f.data)
			e, err := c.Set(k, fresh)
			v, _ := unit.ParseEnv(f.name, c.Bytes()).Get(k)
			return f.verdict(c.Bytes(), v.Text, err, e)
		})
	}
	return c.Bytes(), out, nil
}

func trySupervisor(f file) ([]byte, []try, error) {
	c := supervisor.Parse(f.name, f.data)
	var out []try
	for _, s := range c.Sections() {
		for _, k := range append(c.Keys(s), "startsecs") {
			out = append(out, func() ([]byte, error) {
				c := supervisor.Parse(f.name, f.data)
				e, err := c.Set(s, k, fresh)
				v, _ := supervisor.Parse(f.name, c.Files[0].Bytes()).Get(s, k)
				return f.verdict(c.Files[0].Bytes(), v.Text, err, e)
			})
		}
	}
	return c.Files[0].Bytes(), out, c.Err()
}

// only reads the one file, and finds nothing where it includes others.
func (f file) only(name string) ([]byte, error) {
	if name != "/etc/nginx/main" {
		return nil, fs.ErrNotExist
	}
	return f.data, nil
}

func none(string) ([]string, error) { return nil, nil }

func tryINI(f file, d ini.Dialect) ([]byte, []try, error) {
	load := func(data []byte) (*ini.Config, error) {
		return ini.Load("/etc/nginx/main", d, file{data: data}.only, none)
	}
	c, err := load(f.data)
	if err != nil {
		return nil, nil, err
	}
	sections := c.Sections()
	if d == ini.PHP {
		sections = []string{""}
	}
	var out []try
	for _, s := range sections {
		for _, k := range append(c.Keys(s), "kasoku_new") {
			out = append(out, func() ([]byte, error) {
				c, err := load(f.data)
				if err != nil {
					return nil, err
				}
				if err := c.Set(s, k, fresh); err != nil {
					return nil, err
				}
				again, err := load(c.Files[0].Bytes())
				if err != nil {
					return nil, err
				}
				if v, _ := again.Get(s, k); v.Text != fresh {
					return nil, fmt.Errorf("%s of %s reads back as %q", k, s, v.Text)
				}
				return c.Files[0].Bytes(), nil
			})
		}
	}
	return c.Files[0].Bytes(), out, nil
}

func tryNginx(f file) ([]byte, []try, error) {
	read := func(name string) ([]byte, error) {
		if name != "/etc/nginx/main" {
			return nil, nil // an include is an empty file
		}
		return f.data, nil
	}
	c, err := nginx.Load("/etc/nginx/main", "", read, none)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	c.Root.Walk(func(*nginx.Directive) bool { n++; return true })
	var out []try
	for i := range n {
		out = append(out, func() ([]byte, error) {
			c, err := nginx.Load("/etc/nginx/main", "", read, none)
			if err != nil {
				return nil, err
			}
			var all []*nginx.Directive
			c.Root.Walk(func(d *nginx.Directive) bool { all = append(all, d); return true })
			if len(all[i].Args) == 0 {
				err = all[i].InsertAfter("kasoku " + fresh + ";")
			} else {
				err = all[i].SetArgs(append([]string{fresh}, all[i].Args[1:]...)...)
			}
			return c.Files[0].Bytes(), err
		})
	}
	return c.Files[0].Bytes(), out, nil
}

// tryHAProxy gives each statement another last word, and puts one below it.
func tryHAProxy(f file) ([]byte, []try, error) {
	parse := func() (*haproxy.Config, []*haproxy.Statement) {
		c := haproxy.Parse(f.name, f.data)
		var all []*haproxy.Statement
		for _, s := range c.Sections() {
			all = append(all, s.Statements...)
		}
		return c, all
	}
	c, all := parse()
	var out []try
	for i := range all {
		for _, follow := range []bool{false, true} {
			out = append(out, func() ([]byte, error) {
				c, all := parse()
				change := all[i].Replace(all[i].Word(0), fresh)
				if follow {
					change = all[i].Follow("log-tag", fresh)
				}
				edits, err := c.Apply(change)
				got := ""
				for _, s := range haproxy.Parse(f.name, c.Files[0].Bytes()).Sections() {
					for _, x := range s.Statements {
						if x.Word(1) == fresh {
							got = x.Word(1)
						}
					}
				}
				return f.verdict(c.Files[0].Bytes(), got, err, edits...)
			})
		}
	}
	return c.Files[0].Bytes(), out, c.Err()
}
