package accesslog

import (
	"bytes"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// Operations are parameters by which one address that serves everything is told what to
// do (index.php?route=product/search, backend.php?op=rpc, ?module=user&action=list), in
// the order in which they are shown.
var Operations = []string{"module", "mod", "option", "component", "namespace", "service", "controller", "ctrl", "route", "rest_route", "fuseaction", "handler", "view",
	"action", "act", "do", "op", "operation", "operationName", "cmd", "command", "task", "method", "function", "func", "wc-ajax"}

// looseOperations are operations where their address is a script or a folder, or their
// values are paths; elsewhere they may be anything.
var looseOperations = []string{"m", "c", "r", "rt", "page", "pg", "p", "q", "path", "url", "section", "plugin", "screen", "area", "go", "show", "f", "a"}

// neverOperations hold addresses, but no operation.
var neverOperations = lazyregexp.New(`(?i)^(?:redirect.*|return.*|next|ref|referr?er|callback|back|backurl|dest.*|target|file.*|src|img|image|href|link|goto|continue|utm_.*)$`)

// plainWord is a value that names an operation: no number, no text.
var plainWord = lazyregexp.New(`^/?[A-Za-z][\w./:-]{0,79}$`)

// IsOperation reports whether a parameter's value may name an operation.
func IsOperation(value string) bool { return plainWord.MatchString(value) }

const (
	// maxOperations of one parameter: an application's; what has more is a text or a name.
	maxOperations = 64
	// maxDispatchers are parameters of one address that are looked at.
	maxDispatchers = 4
	// leastAsked is how many requests tell that an address serves everything.
	leastAsked = 4
	// mostAsked of an address' requests have the parameter, and so many of its values name
	// operations; as many of q's and its kin are paths.
	mostAsked, mostNamed, mostPaths = 0.5, 0.9, 0.5
)

// Dispatch counts what the parameters of one address hold. It is bounded; merged ones are
// as one that saw all.
type Dispatch struct {
	Requests int64
	params   []*dispatcher
}

// dispatcher is a parameter.
type dispatcher struct {
	name         string
	rank         int
	count, named int64 // requests that have it; whose value names an operation
	paths        int64 // of them, with a /
	values       map[string]bool
	over         bool // it has too many values
}

// Operation appends what a query asks for, name=value for each parameter that may tell,
// with ids as in routes. Parameters that have too many values are left out.
func (d *Dispatch) Operation(dst, query []byte) []byte {
	d.Requests++
	begin := len(dst)
	for len(query) > 0 {
		pair, rest, _ := bytes.Cut(query, []byte("&"))
		query = rest
		name, value, _ := bytes.Cut(pair, []byte("="))
		p := d.param(name, value)
		if p == nil || p.over {
			continue
		}
		p.count++
		text := operationValue(value)
		if text == "" {
			continue
		}
		p.named++
		if strings.Contains(text, "/") {
			p.paths++
		}
		if !p.values[text] {
			if len(p.values) >= maxOperations {
				p.over, p.values = true, nil
				continue
			}
			p.values[text] = true
		}
		if len(dst) > begin {
			dst = append(dst, '&')
		}
		dst = append(append(append(dst, p.name...), '='), text...)
	}
	return dst
}

// param is the one of a name; nil: it tells no operation, or there are too many.
func (d *Dispatch) param(name, value []byte) *dispatcher {
	for _, p := range d.params {
		if p.name == string(name) {
			return p
		}
	}
	if len(d.params) >= maxDispatchers || len(name) == 0 || len(name) > maxKey {
		return nil
	}
	rank := rankOf(string(name))
	if rank == unknownRank && (bytes.IndexByte(value, '/') < 1 && !bytes.Contains(value, []byte("%2F")) || operationValue(value) == "" || !isKey(name) || neverOperations.MatchString(string(name))) {
		return nil
	}
	p := &dispatcher{name: string(name), rank: rank, values: map[string]bool{}}
	d.params = append(d.params, p)
	return p
}

// unknownRank is behind those of all names that are known.
const unknownRank = 1000

func rankOf(name string) int {
	is := func(one string) bool { return strings.EqualFold(one, name) }
	if at := slices.IndexFunc(Operations, is); at >= 0 {
		return at
	}
	if at := slices.IndexFunc(looseOperations, is); at >= 0 {
		return len(Operations) + at
	}
	return unknownRank
}

var slashes = strings.NewReplacer("%2F", "/", "%2f", "/", "%3A", ":", "%3a", ":")

// operationValue is a value with ids as in routes; "": it names no operation.
func operationValue(value []byte) string {
	if len(value) == 0 || len(value) > 240 {
		return ""
	}
	text := string(value)
	if strings.IndexByte(text, '%') >= 0 {
		text = slashes.Replace(text)
	}
	if !plainWord.MatchString(text) {
		return ""
	}
	parts := strings.Split(text, "/")
	for i, s := range parts {
		if key := classKey(s, false); key != "" && len(s) > 0 {
			if len(parts) == 1 {
				return ""
			}
			parts[i] = markNames[key[0]]
		}
	}
	return strings.Join(parts, "/")
}

// Merge adds what another one saw of the same address.
func (d *Dispatch) Merge(o *Dispatch) {
	d.Requests += o.Requests
	for _, q := range o.params {
		at := slices.IndexFunc(d.params, func(p *dispatcher) bool { return p.name == q.name })
		if at < 0 {
			d.params = append(d.params, &dispatcher{name: q.name, rank: q.rank, values: map[string]bool{}})
			at = len(d.params) - 1
		}
		p := d.params[at]
		p.count, p.named, p.paths, p.over = p.count+q.count, p.named+q.named, p.paths+q.paths, p.over || q.over
		for v := range q.values {
			if !p.over {
				p.values[v] = true
			}
		}
		if p.over = p.over || len(p.values) > maxOperations; p.over {
			p.values = nil
		}
	}
}

// Dispatcher is a parameter that tells what is asked for.
type Dispatcher struct {
	Name string
	// Sure: its name says so. Else its values must make a difference.
	Sure bool
}

// Chosen are the parameters that dispatch at a path, in the order in which they are
// shown: most requests have them, with few values that are names.
func (d *Dispatch) Chosen(path string) []Dispatcher {
	if d.Requests < leastAsked {
		return nil
	}
	var out []*dispatcher
	for _, p := range d.params {
		if p.over || len(p.values) < 2 || float64(p.count) < mostAsked*float64(d.Requests) || float64(p.named) < mostNamed*float64(p.count) {
			continue
		}
		paths := float64(p.paths) >= mostPaths*float64(p.count)
		if p.rank < len(Operations) || paths || p.rank != unknownRank && !strings.EqualFold(p.name, "q") && isScript(path) {
			out = append(out, p)
		}
	}
	// The second of a pair is not in all requests (?controller=cart without an action).
	for _, p := range d.params {
		if len(out) > 0 && !slices.Contains(out, p) && p.rank < len(Operations) && !p.over && len(p.values) > 0 && float64(p.named) >= mostNamed*float64(p.count) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *dispatcher) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return strings.Compare(a.name, b.name)
	})
	var chosen []Dispatcher
	for _, p := range out {
		chosen = append(chosen, Dispatcher{p.name, p.rank < len(Operations) || float64(p.paths) >= mostPaths*float64(p.count)})
	}
	return chosen
}

// Known are the parameters that have not too many values.
func (d *Dispatch) Known() (names []string) {
	for _, p := range d.params {
		if !p.over {
			names = append(names, p.name)
		}
	}
	return names
}

// scriptForm ends paths of programs.
var scriptForm = lazyregexp.New(`(?i)(?:/|\.(?:php\d?|phtml|cgi|fcgi|pl|py|rb|do|action|aspx?|ashx|jspx?|cfm|dll|exe))$`)

func isScript(path string) bool { return scriptForm.MatchString(path) }

// OperationOf are the pairs of an operation that are of these names, in their order.
func OperationOf(operation string, names []string) string {
	var out []string
	for _, name := range names {
		for pair := range strings.SplitSeq(operation, "&") {
			if of, _, _ := strings.Cut(pair, "="); of == name {
				out = append(out, pair)
				break
			}
		}
	}
	return strings.Join(out, "&")
}
