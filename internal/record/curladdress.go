package record

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/lazyregexp"
)

// maxGlobbed addresses come of one with sets and ranges; curl sends them all.
const maxGlobbed = 100

// maxGlobParts of an address are expanded; with more it has too many anyway.
const maxGlobParts = 8

// globPart is a set {a,b} or a range [1-9], [01-12:2], [a-f] of an address
// (curl(1), GLOBBING).
var globPart = lazyregexp.New(`\{([^{}\[\]]*,[^{}\[\]]*)\}|\[(\d{1,9})-(\d{1,9})(?::(\d{1,9}))?\]|\[([a-z])-([a-z])\]|\[([A-Z])-([A-Z])\]`)

// addresses of the command as they are sent.
func (cmd *curlCommand) addresses() []word {
	var out []word
	for _, u := range cmd.urls {
		if len(out) > maxClientRequests {
			cmd.more++
			continue
		}
		all := []string{u.text}
		if !cmd.globs && len(u.text) <= maxTarget {
			var whole bool
			if all, whole = expandGlobs(u.text); !whole {
				cmd.leave(u.line, "the sets and ranges of an address stand for more than %d: only these are taken", maxGlobbed)
			}
		}
		for _, text := range all {
			text = withoutUnknownPort(absolute(text))
			if !cmd.asIs {
				text = withoutDots(text)
			}
			if cmd.upload != nil {
				text = uploadAddress(text, cmd.upload.text)
			}
			out = append(out, word{text: strings.NewReplacer("{", "%7B", "}", "%7D").Replace(text), line: u.line})
		}
	}
	return out
}

// expandGlobs writes the addresses that sets and ranges stand for, the
// rightmost part changing fastest. whole: they are all of them.
func expandGlobs(text string) (all []string, whole bool) {
	all, whole = []string{""}, true
	end := 0
	for _, at := range globPart.FindAllStringSubmatchIndex(text, maxGlobParts) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		values, complete := globValues(group)
		whole = whole && complete
		var next []string
		for _, a := range all {
			for _, v := range values {
				if len(next) == maxGlobbed {
					whole = false
					break
				}
				next = append(next, a+text[end:at[0]]+v)
			}
		}
		all, end = next, at[1]
	}
	for i := range all {
		all[i] += text[end:]
	}
	return all, whole
}

// globValues of one part; group n of globPart.
func globValues(group func(n int) string) (values []string, whole bool) {
	if set := group(1); set != "" {
		values = strings.Split(set, ",")
		return values[:min(len(values), maxGlobbed)], len(values) <= maxGlobbed
	}
	from, to, step, format := 0, 0, 1, "%c"
	for _, n := range []int{5, 7} {
		if letter := group(n); letter != "" {
			from, to = int(letter[0]), int(group(n + 1)[0])
		}
	}
	if first := group(2); first != "" {
		from, to, format = number(first), number(group(3)), "%d"
		step = max(number(group(4)), 1)
		if first[0] == '0' {
			format = fmt.Sprintf("%%0%dd", len(first))
		}
	}
	if to < from {
		to = from
	}
	for n := from; n <= to; n += step {
		if len(values) == maxGlobbed {
			return values, false
		}
		values = append(values, fmt.Sprintf(format, n))
	}
	return values, true
}

// number of a text of digits; 0 if it is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// uploadAddress adds the file's name to an address that ends in / or has no
// path (curl(1), -T).
func uploadAddress(address, file string) string {
	base, rest := address, ""
	if at := strings.IndexAny(address, "?#"); at >= 0 {
		base, rest = address[:at], address[at:]
	}
	scheme := strings.Index(base, "://")
	if !strings.Contains(base[scheme+3:], "/") {
		base += "/"
	}
	if !strings.HasSuffix(base, "/") || file == "-" || file == "." {
		return address
	}
	return base + url.PathEscape(path.Base(strings.ReplaceAll(file, `\`, "/"))) + rest
}

// put makes the request of -T: the file is the body.
func (cmd *curlCommand) put(q *clientRequest) {
	if q.method == "" {
		q.method = "PUT"
	}
	text, ok := cmd.file(cmd.upload.text, cmd.upload.line)
	if !ok {
		q.comment = append(q.comment, "Fill in the body: it is a file.")
		return
	}
	q.post = &harPost{Type: q.contentType(), Text: text}
}

// sign notes authorization that is made anew for each request.
func (cmd *curlCommand) sign(option, why string) {
	cmd.signed = true
	cmd.leave(cmd.line, "--%s: %s", option, why)
}

// ownHeader is one that curl has an option for.
func (cmd *curlCommand) ownHeader(name, value string) {
	if value != "" {
		cmd.q.headers = append(cmd.q.headers, harHeader{Name: name, Value: value})
	}
}
