package evidence

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// apacheLogs are the logs that an Apache configuration names.
type apacheLogs struct {
	Access []AccessLog
	Errors []string
}

// apacheConf reads Apache's configuration for its log directives. It follows
// Include and expands ${NAME} from Define and from envvars beside the main
// file (as Debian has it); conditions (<IfModule>) count as met.
type apacheConf struct {
	read    func(string) ([]byte, error)
	glob    func(string) ([]string, error)
	root    string // ServerRoot
	vars    map[string]string
	formats map[string]string // LogFormat by name
	last    string            // LogFormat without a name: TransferLog's
	custom  [][2]string       // path, format or its name
	errors  []string
}

// maxApacheIncludes bounds how deep files include files (core's own limit is 128).
const maxApacheIncludes = 20

// apacheDefaults of httpd.conf as distributed; Debian says them itself.
var apacheDefaults = map[string]string{"common": `%h %l %u %t "%r" %>s %b`}

func readApache(main, prefix string, read func(string) ([]byte, error), glob func(string) ([]string, error)) (apacheLogs, error) {
	c := &apacheConf{read: read, glob: glob, root: prefix, vars: map[string]string{}, formats: map[string]string{}, last: apacheDefaults["common"]}
	if c.root == "" {
		c.root = path.Dir(main)
	}
	for name, text := range apacheDefaults {
		c.formats[name] = text
	}
	if data, err := read(path.Join(path.Dir(main), "envvars")); err == nil {
		c.environment(string(data))
	}
	if err := c.file(main, 0); err != nil {
		return apacheLogs{}, err
	}
	return c.logs(), nil
}

var exported = regexp.MustCompile(`(?m)^\s*(?:export\s+)?([A-Z_]+)=["']?([^"'\s]*)["']?`)

// environment reads Debian's envvars, a shell script of plain assignments;
// $SUFFIX is empty for the first instance.
func (c *apacheConf) environment(text string) {
	for _, m := range exported.FindAllStringSubmatch(text, -1) {
		c.vars[m[1]] = strings.NewReplacer("$SUFFIX", "", "${SUFFIX}", "").Replace(m[2])
	}
}

var apacheVariable = regexp.MustCompile(`\$\{([^}]+)\}`)

func (c *apacheConf) file(name string, depth int) error {
	data, err := c.read(name)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(text) {
		words := apacheWords(strings.TrimSpace(line))
		for i, w := range words {
			words[i] = apacheVariable.ReplaceAllStringFunc(w, func(v string) string {
				if known, ok := c.vars[v[2:len(v)-1]]; ok {
					return known
				}
				return v
			})
		}
		if len(words) >= 2 && !strings.HasPrefix(words[0], "#") {
			c.directive(words, depth)
		}
	}
	return nil
}

func (c *apacheConf) directive(w []string, depth int) {
	switch strings.ToLower(w[0]) {
	case "define":
		if len(w) > 2 {
			c.vars[w[1]] = w[2]
		}
	case "serverroot":
		c.root = w[1]
	case "include", "includeoptional":
		if depth >= maxApacheIncludes {
			return
		}
		found, _ := c.glob(c.below(w[1]))
		slices.Sort(found)
		for _, name := range found {
			_ = c.file(name, depth+1) // what cannot be read is left out; Apache itself refuses it
		}
	case "logformat":
		if len(w) > 2 {
			c.formats[w[2]] = w[1]
		} else {
			c.last = w[1]
		}
	case "transferlog":
		c.custom = append(c.custom, [2]string{w[1], c.last})
	case "customlog", "globallog":
		format := c.last
		if len(w) > 2 {
			format = w[2]
		}
		c.custom = append(c.custom, [2]string{w[1], format})
	case "errorlog":
		c.errors = append(c.errors, w[1])
	}
}

// logs looks formats up only now: their names may be defined later.
func (c *apacheConf) logs() apacheLogs {
	var out apacheLogs
	for _, l := range c.custom {
		a := AccessLog{Path: l[0], Name: l[1], Text: l[1]}
		if text, ok := c.formats[l[1]]; ok {
			a.Text = text
		} else if !strings.Contains(a.Text, "%") {
			a.Text = ""
		}
		switch {
		case strings.HasPrefix(a.Path, "|"):
			a.Not = "it is piped to a program"
		case strings.HasPrefix(a.Path, "syslog"):
			a.Not = "it goes to syslog"
		case strings.Contains(a.Path, "${"):
			a.Not = "a variable in its path is not known"
		default:
			a.Path = c.below(a.Path)
		}
		if !slices.ContainsFunc(out.Access, func(b AccessLog) bool { return b.Path == a.Path }) {
			out.Access = append(out.Access, a)
		}
	}
	for _, e := range c.errors {
		if !strings.HasPrefix(e, "|") && !strings.HasPrefix(e, "syslog") && !strings.Contains(e, "${") {
			out.Errors = append(out.Errors, c.below(e))
		}
	}
	slices.Sort(out.Errors)
	out.Errors = slices.Compact(out.Errors)
	return out
}

func (c *apacheConf) below(p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(c.root, p)
}

// apacheWords splits a line as ap_getword_conf does: quotes hold words
// together, a backslash keeps the quote after it.
func apacheWords(line string) []string {
	var out []string
	for line != "" {
		var b strings.Builder
		if q := line[0]; q == '"' || q == '\'' {
			i := 1
			for ; i < len(line) && line[i] != q; i++ {
				if line[i] == '\\' && i+1 < len(line) && line[i+1] == q {
					i++
				}
				b.WriteByte(line[i])
			}
			line = line[min(i+1, len(line)):]
		} else {
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			b.WriteString(line[:end])
			line = line[end:]
		}
		out = append(out, b.String())
		line = strings.TrimLeft(line, " \t")
	}
	return out
}
