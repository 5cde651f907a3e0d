package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// nginxPlaces of variables (ngx_http_log_module, ngx_http_core_module,
// ngx_http_upstream_module).
var nginxPlaces = map[string]place{
	"remote_addr": {kind: kindClient}, "http_x_forwarded_for": {kind: kindForwarded},
	"remote_user": {kind: kindUser},
	"time_local":  {kind: kindTime}, "time_iso8601": {kind: kindTime}, "msec": {kind: kindTime},
	"request": {kind: kindRequest}, "request_method": {kind: kindMethod}, "request_uri": {kind: kindTarget},
	"uri": {kind: kindPath}, "document_uri": {kind: kindPath}, "args": {kind: kindQuery}, "query_string": {kind: kindQuery},
	"server_protocol": {kind: kindProtocol}, "status": {kind: kindStatus},
	"body_bytes_sent": {kind: kindBytes}, "bytes_sent": {kind: kindBytesDash},
	"request_time": {kind: kindRequestTime}, "upstream_response_time": {kind: kindUpstreamTime},
	"http_referer": {kind: kindReferer}, "http_user_agent": {kind: kindAgent},
	"host": {kind: kindHost}, "http_host": {kind: kindHost}, "server_name": {kind: kindHost},
	"upstream_cache_status": {kind: kindCache},
}

// Nginx compiles a log_format string: $variables between literal text. Times
// are those of the end of the request, as nginx writes its log then.
func Nginx(format string) (*Format, error) { return nginxFormat(format, "default") }

// nginxFormat: escape is log_format's parameter: default, json or none.
func nginxFormat(format, escape string) (*Format, error) {
	b := newBuild(format, true)
	b.f.escapes = escape != "none"
	err := b.variables(strings.ReplaceAll(format, "$uri$is_args$args", "$request_uri"), func(name string) op {
		return op{place: nginxPlaces[name], list: name == "http_x_forwarded_for"}
	})
	if err != nil {
		return nil, fmt.Errorf("log format %q: %w", format, err)
	}
	return b.done()
}

// variables takes in a text of $names between literals, as log_format writes them; value
// says what a name is.
func (b *build) variables(text string, value func(name string) op) error {
	for s := text; s != ""; {
		at := strings.IndexByte(s, '$')
		if at != 0 {
			if at < 0 {
				at = len(s)
			}
			b.literal(s[:at])
			s = s[at:]
			continue
		}
		name, rest := variableName(s[1:])
		if name == "" {
			return fmt.Errorf("no variable's name follows the $ at %q", s)
		}
		s = rest
		o := value(name)
		o.name = name
		switch {
		case name == "time_local":
			o.spaces = 1
		case name == "request":
			o.spaces = 2
		case strings.HasPrefix(name, "upstream_"):
			o.list = true
		}
		b.value(o)
	}
	return nil
}

// variableName reads name or {name}.
func variableName(s string) (name, rest string) {
	if braced, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, ok = strings.Cut(braced, "}")
		if !ok {
			return "", ""
		}
		return name, rest
	}
	end := 0
	for end < len(s) && (s[end] == '_' || s[end] >= 'a' && s[end] <= 'z' || s[end] >= 'A' && s[end] <= 'Z' || s[end] >= '0' && s[end] <= '9') {
		end++
	}
	return s[:end], s[end:]
}

// unquoteNginx joins the strings of a log_format directive.
func unquoteNginx(s string) (text, escape string, err error) {
	escape = "default"
	var b strings.Builder
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if s[0] != '\'' && s[0] != '"' {
			word, rest, _ := strings.Cut(s, " ")
			if e, ok := strings.CutPrefix(word, "escape="); ok {
				escape = e
			} else {
				b.WriteString(word)
			}
			s = rest
			continue
		}
		quote, i := s[0], 1
		for ; i < len(s) && s[i] != quote; i++ {
			if s[i] == '\\' && i+1 < len(s) {
				i++
				switch s[i] {
				case 't':
					b.WriteByte('\t')
				case 'r':
					b.WriteByte('\r')
				case 'n':
					b.WriteByte('\n')
				case '"', '\'', '\\': // ngx_conf_read_token, whichever the quotes are
					b.WriteByte(s[i])
				default:
					b.WriteByte('\\')
					b.WriteByte(s[i])
				}
				continue
			}
			b.WriteByte(s[i])
		}
		if i >= len(s) {
			return "", "", fmt.Errorf("log format %q: a quote is not closed", s)
		}
		s = s[i+1:]
	}
	return b.String(), escape, nil
}

// seconds is the unit of numbers that may lack a fraction.
const seconds = time.Second
