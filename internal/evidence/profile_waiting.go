package evidence

import (
	"regexp"
	"strings"
)

// waiting are functions that wait: system calls and their wrappers, PHP's
// built-in clients, Go's parking. Names are compared without what surrounds
// them (leading underscores, namespaces, "()").
var waiting = regexp.MustCompile(`(?i)^(e?poll|ppoll|p?select|epoll_p?wait2?|do_e?poll(_wait)?|futex(_wait.*)?|do_futex|(clock_)?nanosleep|u?sleep|time_nanosleep|` +
	`pause|wait(id|pid|4)|accept4?|recv(from|msg)?|io_getevents|sched_yield|flock|stream_select|curl_(multi_)?(exec|select)|fsockopen|stream_socket_client|` +
	`mysqli?(_real)?_(query|connect|stmt_execute|execute|reap_async_query)|mysqli(_stmt)?::(query|execute|prepare|real_connect)|PDO(Statement)?::(execute|query|exec|prepare|commit|__construct)|` +
	`Memcached?::.*|Redis::.*|SoapClient::.*|(runtime\.)?(gopark|notetsleep.*|netpoll.*|futexsleep|selectgo|semacquire.*))$`)

// Waits reports whether a function of this name waits for others.
func Waits(function string) bool {
	name := strings.TrimSuffix(strings.TrimLeft(function, "_"), "()")
	return waiting.MatchString(name)
}
