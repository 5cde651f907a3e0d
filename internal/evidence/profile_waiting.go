package evidence

import (
	"math"
	"regexp"
	"strings"

	"github.com/google/pprof/profile"
)

// waiting are functions that wait: system calls and their wrappers, PHP's
// built-in clients, Go's parking. Names are compared without what surrounds
// them (leading underscores, namespaces, "()").
var waiting = regexp.MustCompile(`(?i)^(e?poll|ppoll|p?select|epoll_p?wait2?|do_e?poll(_wait)?|futex(_wait.*)?|do_futex|(clock_)?nanosleep|u?sleep|time_nanosleep|` +
	`pause|wait(id|pid|4)|accept4?|recv(from|msg)?|io_getevents|sched_yield|flock|stream_select|curl_(multi_)?(exec|select)|fsockopen|stream_socket_client|` +
	`mysqli?(_real)?_(query|connect|stmt_execute|execute|reap_async_query)|mysqli(_stmt)?::(query|execute|prepare|real_connect)|PDO(Statement)?::(execute|query|exec|prepare|commit|__construct)|` +
	`Memcached?::.*|Redis::.*|SoapClient::.*|(runtime\.)?(gopark|notetsleep.*|netpoll.*|futexsleep|selectgo|semacquire.*))$`)

// waits reports whether a function of this name waits for others.
func waits(function string) bool {
	name := strings.TrimSuffix(strings.TrimLeft(function, "_"), "()")
	return waiting.MatchString(name)
}

const (
	// waitingSamples of its own are needed before a function can be said to
	// wait: with 20 of them and a CPU share of 1/2, less than 1/8 is seen in one
	// of a thousand.
	waitingSamples = 20
	// waitingShare: a function waits if it used less CPU than this part of what
	// it could have had.
	waitingShare = 0.25
)

// cpuChance is the part of a CPU that a runnable process got: all of it unless
// more were runnable than there are CPUs.
func cpuChance(sys *System) float64 {
	if sys == nil || sys.CPUs <= 0 || sys.RunQueue <= float64(sys.CPUs) {
		return 1
	}
	return float64(sys.CPUs) / sys.RunQueue
}

// markWaiting flags the functions that used next to no CPU in their own time.
// pp's values are samples, wall and CPU time; chance is cpuChance.
func (p *Profile) markWaiting(pp *profile.Profile, chance float64) {
	type own struct{ samples, wall, cpu int64 }
	by := map[string]*own{}
	for _, s := range pp.Sample {
		frames := sampleFrames(s)
		if len(frames) == 0 {
			continue
		}
		o := by[frames[0].name]
		if o == nil {
			o = &own{}
			by[frames[0].name] = o
		}
		o.samples, o.wall, o.cpu = o.samples+s.Value[0], o.wall+s.Value[1], o.cpu+s.Value[2]
	}
	for i := range p.Top {
		f := &p.Top[i]
		if o := by[f.Function]; o != nil && o.samples >= waitingSamples && float64(o.cpu) < waitingShare*math.Min(chance, 1)*float64(o.wall) {
			f.Waiting = true
		}
	}
}
