package diagnose

import (
	"fmt"
	"math"
	"strings"

	"kasoku/internal/evidence"
)

// profileSign is a kind of work that a profile shows by functions' names.
type profileSign struct {
	rule  string
	parts []string // of function names, lower case
	share float64  // from here on it is a finding
	title string
	text  string // what to do
}

// A tenth of a service's samples is the least whose removal a run shows; for
// the garbage collector of Go a quarter of the machine is its own target
// (runtime package, GOGC; "A Guide to the Go Garbage Collector").
var profileSigns = []profileSign{
	{"profile.gc", []string{"gcbgmarkworker", "gcdrain", "mallocgc", "gcassist", "scanobject", "gc_mark", "gc_sweep", "zend_gc_", "gc_collect", "rb_gc", "madvise"}, 0.10,
		"allocates and collects much", "Reuse buffers, pass streams through, pool objects; with a memory limit set (GOMEMLIMIT) the collector may run less often (GOGC)."},
	{"profile.compression", []string{"deflate", "gzip", "zlib", "inflate", "brotli", "zstd", "lz4", "snappy", "crc32"}, 0.10,
		"spends much on compression", "A newer library, a lower level, or compressing once instead of each time."},
	{"profile.encoding", []string{"json", "serialize", "msgpack", "marshal", "igbinary", "reflect.", "protobuf", "encod"}, 0.10,
		"spends much on encoding", "A faster encoder, fewer fields, or bytes that are kept encoded."},
	{"profile.logging", []string{"zap.", "logrus", "monolog", "log.(*logger)", "slog.", "error_log", "fprintf", "syslog"}, 0.10,
		"spends much on its log", "Log less per request, or leave out what nobody reads."},
	{"profile.sorting", []string{"sort.", "slices.sort", "pdqsort", "usort", "zend_sort", "array_multisort", "array_filter", "array_search", "in_array", "array_column"}, 0.10,
		"sorts and searches the same data again", "Build look-up tables when the data is imported, or keep what was derived after its first use."},
	{"profile.regexp", []string{"pcre2_match", "php_pcre", "preg_", "regexp.", "get_browser", "browscap", "useragent", "user_agent"}, 0.10,
		"spends much on patterns", "Parse user agents and the like by a local table, or keep the result per value."},
	{"profile.compile", []string{"zend_compile", "zendparse", "compile_file", "lex_scan", "opcache_compile", "zend_language_scanner"}, 0.05,
		"compiles scripts under load", "OPcache is off, too small, or checks files for changes."},
	{"profile.crypto", []string{"bcrypt", "blowfish", "sha256_block", "sha512", "md5_", "argon2", "pbkdf2", "scrypt"}, 0.20,
		"spends much on hashing", "Password hashes are slow on purpose; hash once per log-in, not per request."},
}

func judgeProfile(sign profileSign) func(m *model) ([]Finding, string) {
	return func(m *model) ([]Finding, string) {
		return m.eachProfile(func(p evidence.Profile) []Finding {
			share := 0.0
			var cites []string
			source := ""
			for _, f := range p.Top {
				name := strings.ToLower(f.Function)
				for _, part := range sign.parts {
					if strings.Contains(name, part) {
						share += f.Self
						cites = append(cites, fmt.Sprintf("%s: %s", f.Function, percent(f.Self)))
						if source == "" {
							source = f.File
						}
						break
					}
				}
			}
			if share < sign.share {
				return nil
			}
			f := about(p.Service, p.Service+" "+sign.title,
				fmt.Sprintf("%s of %s's samples (%s): %s. %s", percent(share), p.Service, p.Tool, strings.Join(cites[:min(len(cites), 5)], ", "), sign.text), append([]string{"profile of " + p.Service}, cites...)...)
			f.Source = source
			return []Finding{f.bounded(m.boundBy(p.Service, m.perReq[p.Service]*math.Min(1, share)))}
		})
	}
}

// eachProfile leaves out profiles of elapsed time in which the service mostly
// waits: shares of waiting are no shares of work.
func (m *model) eachProfile(judge func(p evidence.Profile) []Finding) ([]Finding, string) {
	if len(m.in.Evidence.Profiles) == 0 {
		return nil, "no profile was taken (the first diagnostic run does, where a profiler is there)"
	}
	var out []Finding
	why := ""
	for _, p := range m.in.Evidence.Profiles {
		if p.Samples < fewSamples {
			why = fmt.Sprintf("%s: its profile has only %d samples", p.Service, p.Samples)
			continue
		}
		if p.Wall && waiting(p) > 0.5 {
			why = fmt.Sprintf("%s: its profile is of elapsed time, and most of that is waiting", p.Service)
			continue
		}
		out = append(out, judge(p)...)
	}
	return out, why
}

// fewSamples: with 100 the error of a share of 10 % is 3 points (binomial).
const fewSamples = 100

// waitNames are functions that wait for something outside.
var waitNames = []string{"poll", "epoll", "select", "recv", "read", "accept", "futex", "sleep", "wait", "query", "execute", "connect", "fetch", "pdo", "mysqli", "curl_exec", "memcached", "redis"}

func waiting(p evidence.Profile) float64 {
	share := 0.0
	for _, f := range p.Top {
		name := strings.ToLower(f.Function)
		for _, w := range waitNames {
			if strings.Contains(name, w) {
				share += f.Self
				break
			}
		}
	}
	return share
}

// hotShare: one function of the application's own with a fifth of the samples
// is where to look first.
const hotShare = 0.20

// unnamed is how perf calls code of a program without symbols.
const unnamed = "[unknown]"

func judgeHot(m *model) ([]Finding, string) {
	nameless := ""
	out, why := m.eachProfile(func(p evidence.Profile) []Finding {
		if len(p.Top) == 0 || p.Top[0].Self < hotShare || p.Top[0].File == "" {
			return nil // without a file it is the runtime's or the kernel's
		}
		top := p.Top[0]
		if strings.HasPrefix(top.Function, unnamed) {
			nameless = fmt.Sprintf("%s: %s of its samples are in code without names (%s); install the program's debug symbols", p.Service, percent(top.Self), top.File)
			return nil // it may be any number of functions
		}
		f := about(p.Service, fmt.Sprintf("%s is %s of %s's time", top.Function, percent(top.Self), p.Service),
			fmt.Sprintf("%s (%s) takes %s itself and %s with what it calls.", top.Function, top.File, percent(top.Self), percent(top.Total)), "profile of "+p.Service)
		f.Source, f.Subject = top.File, map[string]string{"source": "yes"}
		return []Finding{f.bounded(m.boundBy(p.Service, m.perReq[p.Service]*math.Min(1, math.Max(top.Self, top.Total))))}
	})
	if nameless != "" && why != "" {
		nameless += "; "
	}
	return out, nameless + why
}
