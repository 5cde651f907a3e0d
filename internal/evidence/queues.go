package evidence

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// listening is one line of `ss -Hltxn`: for a listening socket Recv-Q is how
// many connections wait to be accepted and Send-Q how many may (ss(8)).
type listening struct {
	Listen       string // "127.0.0.1:80", "*:80", "unix:/run/x.sock"
	Queue, Limit int
}

func parseSS(data []byte) []listening {
	var out []listening
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 5 || f[1] != "LISTEN" {
			continue
		}
		queue, err1 := strconv.Atoi(f[2])
		limit, err2 := strconv.Atoi(f[3])
		if err1 != nil || err2 != nil || queue < 0 || limit < 0 {
			continue
		}
		switch {
		case f[0] == "tcp":
			out = append(out, listening{Listen: f[4], Queue: queue, Limit: limit})
		case strings.HasPrefix(f[0], "u_") && f[4] != "*":
			out = append(out, listening{Listen: "unix:" + f[4], Queue: queue, Limit: limit})
		}
	}
	return out
}

// maxQueues bounds the list: a machine can have a thousand listening sockets,
// and those that were never waited at tell nothing.
const maxQueues = 20

// queues are the listening sockets seen so far.
type queues map[string]*AcceptQueue

// see takes one look at them. Several sockets on one address (reuseport) are
// taken together.
func (q queues) see(now []listening) {
	sum := map[string]listening{}
	for _, l := range now {
		one := sum[l.Listen]
		one.Queue += l.Queue
		one.Limit += l.Limit
		sum[l.Listen] = one
	}
	for name, l := range sum {
		if q[name] == nil {
			q[name] = &AcceptQueue{Listen: name}
		}
		q[name].Longest, q[name].Limit = max(q[name].Longest, l.Queue), l.Limit
	}
}

// list returns those of services and those that were waited at, fullest first.
// service names the service of an address, "" if there is none.
func (q queues) list(service func(listen string) string) []AcceptQueue {
	var out []AcceptQueue
	for _, one := range q {
		one.Service = service(one.Listen)
		if one.Service != "" || one.Longest > 0 {
			out = append(out, *one)
		}
	}
	full := func(a AcceptQueue) float64 { return float64(a.Longest) / float64(max(a.Limit, 1)) }
	slices.SortFunc(out, func(a, b AcceptQueue) int {
		return cmp.Or(cmp.Compare(full(b), full(a)), cmp.Compare(a.Listen, b.Listen))
	})
	return out[:min(len(out), maxQueues)]
}
