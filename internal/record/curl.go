package record

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"kasoku/internal/lazyregexp"
)

// maxCommands bytes of a file with commands.
const maxCommands = 16 << 20

// curlOption is an option of curl(1).
type curlOption struct {
	value bool // it takes one
	do    func(c *curlCommand, value word)
	// why it is left out; "" and no do: it does not change the request.
	why string
}

// curlCommand is one command line.
type curlCommand struct {
	*client
	dir   string
	line  int
	urls  []word
	q     clientRequest
	data  []string
	json  bool
	get   bool // -G
	head  bool
	query []string // --url-query
	// upload is the file of -T.
	upload *word
	globs  bool // of addresses are not expanded: -g
	asIs   bool // steps . and .. stay: --path-as-is
	signed bool // authorization that is made anew for each request
	// input is what a here-document or a pipe gives.
	input *word
}

// curlOptions by their long names. Those without do are known so that their
// values are not taken for addresses.
var curlOptions map[string]curlOption

func init() {
	curlOptions = map[string]curlOption{
		"request":        {true, func(c *curlCommand, v word) { c.q.method = strings.ToUpper(v.text) }, ""},
		"header":         {true, (*curlCommand).header, ""},
		"data":           {true, func(c *curlCommand, v word) { c.addData(v, true, true) }, ""},
		"data-ascii":     {true, func(c *curlCommand, v word) { c.addData(v, true, true) }, ""},
		"data-binary":    {true, func(c *curlCommand, v word) { c.addData(v, true, false) }, ""},
		"data-raw":       {true, func(c *curlCommand, v word) { c.addData(v, false, false) }, ""},
		"data-urlencode": {true, (*curlCommand).urlencode, ""},
		"json":           {true, func(c *curlCommand, v word) { c.json = true; c.addData(v, true, false) }, ""},
		"form":           {true, func(c *curlCommand, v word) { c.form(v, true) }, ""},
		"form-string":    {true, func(c *curlCommand, v word) { c.form(v, false) }, ""},
		"get":            {false, func(c *curlCommand, _ word) { c.get = true }, ""},
		"head":           {false, func(c *curlCommand, _ word) { c.head = true }, ""},
		"url":            {true, func(c *curlCommand, v word) { c.urls = append(c.urls, v) }, ""},
		"url-query":      {true, func(c *curlCommand, v word) { c.query = append(c.query, strings.TrimPrefix(v.text, "+")) }, ""},
		"user":           {true, func(c *curlCommand, v word) { c.q.auth, c.q.given = basicAuth, givenUser(v.text) }, ""},
		"oauth2-bearer":  {true, func(c *curlCommand, v word) { c.q.auth = bearerAuth }, ""},
		"cookie":         {true, (*curlCommand).cookie, ""},
		"digest":         {false, func(c *curlCommand, _ word) { c.sign("digest", "Digest signs each request, which load does not do") }, ""},
		"ntlm":           {false, func(c *curlCommand, _ word) { c.sign("ntlm", "NTLM needs several requests on one connection") }, ""},
		"negotiate": {false, func(c *curlCommand, _ word) {
			c.sign("negotiate", "Negotiate needs several requests on one connection")
		}, ""},
		"aws-sigv4":   {true, func(c *curlCommand, _ word) { c.sign("aws-sigv4", "it signs each request, which load does not do") }, ""},
		"upload-file": {true, func(c *curlCommand, v word) { c.upload = &v }, ""},
		"globoff":     {false, func(c *curlCommand, _ word) { c.globs = true }, ""},
		"path-as-is":  {false, func(c *curlCommand, _ word) { c.asIs = true }, ""},
		"range": {true, func(c *curlCommand, v word) {
			c.q.headers = append(c.q.headers, harHeader{Name: "Range", Value: "bytes=" + v.text})
		}, ""},
		"location":       {false, nil, "redirects: add follow: true where the first answer is one"},
		"config":         {true, nil, "a file of options is not read"},
		"user-agent":     {true, func(c *curlCommand, v word) { c.ownHeader("User-Agent", v.text) }, ""},
		"referer":        {true, func(c *curlCommand, v word) { c.ownHeader("Referer", v.text) }, ""},
		"compressed":     {false, nil, ""},
		"insecure":       {false, nil, ""},
		"proxy":          {true, nil, ""},
		"cert":           {true, nil, "load sends no client's certificate"},
		"unix-socket":    {true, nil, "give the socket as the target of the run"},
		"connect-to":     {true, nil, ""},
		"resolve":        {true, nil, ""},
		"parallel":       {false, nil, ""},
		"next":           {false, nil, ""},
		"request-target": {true, nil, "another request target is not taken"},
	}
	for _, name := range []string{"output", "output-dir", "cookie-jar", "max-time", "connect-timeout", "write-out", "retry", "retry-delay", "retry-max-time", "cacert", "capath",
		"key", "cert-type", "key-type", "ciphers", "tls-max", "interface", "limit-rate", "max-redirs", "proxy-user", "noproxy", "dump-header", "stderr", "trace", "trace-ascii",
		"speed-limit", "speed-time", "dns-servers", "local-port", "max-filesize", "time-cond", "pinnedpubkey", "socks5", "socks5-hostname", "keepalive-time", "parallel-max",
		"expect100-timeout", "netrc-file", "proto", "proto-default", "proto-redir", "rate", "service-name", "continue-at", "curves", "doh-url", "etag-compare", "etag-save"} {
		curlOptions[name] = curlOption{value: true}
	}
}

// curlShort are the options of one letter.
var curlShort = map[byte]string{'X': "request", 'H': "header", 'd': "data", 'F': "form", 'G': "get", 'I': "head", 'u': "user", 'b': "cookie", 'T': "upload-file", 'r': "range",
	'L': "location", 'K': "config", 'A': "user-agent", 'e': "referer", 'k': "insecure", 'x': "proxy", 'E': "cert", 'o': "output", 'c': "cookie-jar", 'm': "max-time",
	'w': "write-out", 'D': "dump-header", 'U': "proxy-user", 'z': "time-cond", 'C': "continue-at", 'y': "speed-time", 'Y': "speed-limit", 'Z': "parallel", 'g': "globoff", ':': "next"}

// FromCurl makes a scenario of curl command lines, as browsers copy them or as
// scripts have them, for bash, cmd.exe or PowerShell.
func FromCurl(r io.Reader, o ClientOptions) (*Draft, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCommands+1))
	if err != nil {
		return nil, fmt.Errorf("read curl commands: %w", err)
	}
	if len(data) > maxCommands {
		return nil, fmt.Errorf("read curl commands: larger than %d MiB", maxCommands>>20)
	}
	c := newClient("curl commands", &o)
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\xef\xbb\xbf"), "\uFFFD")
	if isPowerShell.MatchString(text) {
		c.powerShell(text, o.Dir)
		return c.draft(o)
	}
	for _, list := range shellCommands(text) {
		at := curlAt(list)
		if at < 0 {
			c.leave(list[0].line, "%s is no curl command", commandName(list[0].text))
			continue
		}
		c.curl(list[at+1:], list[at].line, o.Dir)
	}
	return c.draft(o)
}

// What may be told of a command: nothing that can be a value, and so a secret.
var (
	programName = lazyregexp.New(`^(?:[\w./~-]*/)?[a-z][a-z-]{0,19}$`)
	assignment  = lazyregexp.New(`^[A-Za-z_]\w{0,60}=`)
	optionName  = lazyregexp.New(`^[a-z0-9.-]{0,40}`)
)

// commandName is how a command is told that is none of curl: a program's name,
// or the variable that it sets.
func commandName(word string) string {
	if name := assignment.FindString(word); name != "" {
		return fmt.Sprintf("%q", name+"…")
	}
	if programName.MatchString(word) {
		return fmt.Sprintf("%q", path.Base(word))
	}
	return "what stands there"
}

// curlAddress are words that can be an address: with a scheme, or a host that
// is localhost or has a dot, a port or a path behind it. Other words are values
// that lost their quotes.
var curlAddress = lazyregexp.New(`^(?i:https?|ftp)://|^` + fillIn + `|^(?:[^/?#@]*@)?(?:localhost|\[|[a-z0-9_.-]+(?::\d+)?[/?#]|[a-z0-9_.-]+:\d+$|[a-z0-9-]+(?:\.[a-z0-9-]+)+$)`)

// curl reads the options of one command.
func (c *client) curl(words []word, line int, dir string) {
	words, input := inputOf(words)
	cmd := &curlCommand{client: c, dir: dir, line: line, input: input}
	for i := 0; i < len(words); i++ {
		w := words[i]
		for _, name := range w.unknown {
			c.leave(w.line, "the value of %s is not known; fill it in where %s stands", name, fillIn)
		}
		switch {
		case w.text == "--next" || w.text == "-:":
			cmd.end()
			cmd = &curlCommand{client: c, dir: dir, line: w.line, input: input}
		case strings.HasPrefix(w.text, "--") && len(w.text) > 2:
			name := w.text[2:]
			o, known := curlOptions[name]
			if !known {
				if !strings.HasPrefix(name, "no-") && !slices.Contains(curlSilent, name) {
					c.leave(w.line, "the option --%s is not known", optionName.FindString(name))
				}
				continue
			}
			value := word{line: w.line}
			if o.value && i+1 < len(words) {
				i++
				value = words[i]
			}
			cmd.option(name, o, value)
		case strings.HasPrefix(w.text, "-") && len(w.text) > 1:
			i = cmd.short(words, i)
		case strings.ContainsAny(w.text, "<>") && len(w.text) <= 2 || w.text == "2>&1":
			i++ // a redirection of the shell
		case w.text == "":
		case !curlAddress.MatchString(w.text):
			c.leave(w.line, "a word of a curl command that is no address")
		default:
			cmd.urls = append(cmd.urls, w)
		}
	}
	cmd.end()
}

// curlSilent are options without a value that do not change the request.
var curlSilent = []string{"silent", "show-error", "verbose", "include", "fail", "fail-with-body", "http1.0", "http1.1", "http2", "http2-prior-knowledge", "http3",
	"progress-bar", "ipv4", "ipv6", "tlsv1.2", "tlsv1.3", "raw", "remote-name", "remote-header-name", "basic", "location-trusted", "ssl-no-revoke", "tr-encoding",
	"no-progress-meter", "create-dirs", "tcp-nodelay", "styled-output", "remote-time", "disable", "tlsv1", "tlsv1.0", "tlsv1.1", "retry-all-errors", "retry-connrefused", "post301", "post302", "anyauth"}

// short reads options of one letter that share a word; it returns the place of
// the last word it took.
func (cmd *curlCommand) short(words []word, i int) int {
	w := words[i]
	for k := 1; k < len(w.text); k++ {
		name, known := curlShort[w.text[k]]
		if !known {
			continue // -s, -S, -v, -i, …
		}
		o := curlOptions[name]
		if !o.value {
			cmd.option(name, o, word{line: w.line})
			continue
		}
		value := word{text: w.text[k+1:], line: w.line}
		if value.text == "" && i+1 < len(words) {
			i++
			value = words[i]
		}
		cmd.option(name, o, value)
		return i
	}
	return i
}

func (cmd *curlCommand) option(name string, o curlOption, value word) {
	for _, v := range value.unknown {
		cmd.leave(value.line, "the value of %s is not known; fill it in where %s stands", v, fillIn)
	}
	if o.do != nil {
		o.do(cmd, value)
	} else if o.why != "" {
		cmd.leave(value.line, "--%s: %s", name, o.why)
	}
}

// cookie takes the option of that name. A value without "=" is a jar of earlier answers'
// cookies (curl's manual), as every session of a load has one.
func (cmd *curlCommand) cookie(v word) {
	if strings.Contains(v.text, "=") {
		cmd.leave(v.line, "--cookie: cookies come from the answers; add a step that sets them")
	}
}

func (cmd *curlCommand) header(v word) {
	if strings.HasPrefix(v.text, "@") {
		cmd.leave(v.line, "headers from the file %s are not read", shortText(v.text[1:], 60))
		return
	}
	name, value, ok := strings.Cut(v.text, ":")
	if !ok {
		if name, ok = strings.CutSuffix(v.text, ";"); !ok || !plainKey.MatchString(name) {
			cmd.leave(v.line, "a header without a colon")
			return
		}
	} else if strings.TrimSpace(value) == "" {
		return // takes a header of curl's own away
	}
	cmd.q.headers = append(cmd.q.headers, harHeader{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
}

// file reads a file that an option names, within the commands' folder.
func (cmd *curlCommand) file(name string, line int) (string, bool) {
	if name == "-" && cmd.input != nil {
		for _, v := range cmd.input.unknown {
			cmd.leave(cmd.input.line, "the value of %s is not known; fill it in where %s stands", v, fillIn)
		}
		if cmd.input.input == inputText && len(cmd.input.text) <= maxRecordedBody {
			return cmd.input.text, true
		}
		name = cmd.input.text
	}
	if cmd.dir == "" || name == "-" || path.IsAbs(name) {
		cmd.leave(line, "the file %s is not read; fill in the body", shortText(name, 60))
		return "", false
	}
	data, err := readLocal(cmd.dir, path.Clean(name))
	if err != nil || len(data) > maxRecordedBody || !utf8.Valid(data) {
		cmd.leave(line, "the file %s is not read (%s); fill in the body", shortText(name, 60), cmp.Or(errorText(err), "it is binary or larger than 32 KiB"))
		return "", false
	}
	return string(data), true
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (cmd *curlCommand) addData(v word, files, strip bool) {
	text := v.text
	if files && strings.HasPrefix(text, "@") {
		text, _ = cmd.file(text[1:], v.line)
		if strip {
			text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
		}
	}
	cmd.data = append(cmd.data, text)
}

// contentType that a header says; "" if none does.
func (q *clientRequest) contentType() string {
	for _, h := range q.headers {
		if strings.EqualFold(h.Name, "Content-Type") {
			return h.Value
		}
	}
	return ""
}

// end makes the requests of the command.
func (cmd *curlCommand) end() {
	if len(cmd.urls) == 0 {
		cmd.leave(cmd.line, "a curl command without an address")
		return
	}
	q := cmd.q
	if cmd.get {
		cmd.query = append(cmd.query, cmd.data...)
		cmd.data = nil
	}
	switch {
	case cmd.upload != nil:
		cmd.put(&q)
	case len(q.parts) > 0:
		q.method = cmp.Or(q.method, "POST")
	case len(cmd.data) > 0 && cmd.json:
		q.method = cmp.Or(q.method, "POST")
		q.post = &harPost{Type: cmp.Or(q.contentType(), "application/json"), Text: strings.Join(cmd.data, "")}
		q.headers = append(q.headers, harHeader{Name: "Accept", Value: "application/json"})
	case len(cmd.data) > 0:
		q.method = cmp.Or(q.method, "POST")
		q.post = &harPost{Type: cmp.Or(q.contentType(), "application/x-www-form-urlencoded"), Text: strings.Join(cmd.data, "&")}
	}
	if cmd.head {
		q.method = cmp.Or(q.method, "HEAD")
	}
	q.method = cmp.Or(q.method, "GET")
	cmd.leaveBody(&q, cmd.line)
	query := strings.Join(cmd.query, "&")
	if len(query) > maxTarget {
		cmd.leave(cmd.line, "a query of %d KiB: servers refuse more than %d bytes", len(query)>>10, maxTarget)
		return
	}
	if cmd.signed {
		q.auth, q.given = "", ""
	}
	for _, u := range cmd.addresses() {
		one := q
		one.line, one.url = u.line, u.text
		if len(cmd.query) > 0 && len(one.url) <= maxTarget {
			base, _, _ := strings.Cut(one.url, "#")
			between := "?"
			if strings.Contains(base, "?") {
				between = "&"
			}
			one.url = base + between + query
		}
		cmd.add(one)
	}
}
