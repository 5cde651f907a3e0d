// Small speaks just enough HTTP by itself that it builds in seconds; it counts
// words, and shows a CPU profile where net/http/pprof would: the one in the file that
// is its second argument, always the same, so that what is built by it is compiled
// once and is in Go's build cache from then on. runtime/pprof took that of
// cpu.pb.gz (315 samples) while this program counted for three seconds of CPU time.
package main

import (
	"bufio"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

type counter interface{ count(text string) int }

type words struct{}

func (words) count(text string) int {
	n := 0
	for _, w := range strings.Fields(text) {
		n += weight(w)
	}
	return n
}

func weight(w string) int {
	h := 7
	for i := range len(w) {
		h = (h*31 + int(w[i])) % 1009
	}
	return h
}

var (
	text          = strings.Repeat("the quick brown fox jumps over the lazy dog ", 400)
	using counter = words{}
)

func main() {
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err == nil {
			go serve(c)
		}
	}
}

func serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		first, err := in.ReadString('\n')
		if err != nil {
			return
		}
		for line := first; strings.TrimSpace(line) != ""; {
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		body, status := answer(first)
		_, err = c.Write([]byte("HTTP/1.1 " + status + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nContent-Type: text/plain\r\n\r\n" + body))
		if err != nil {
			return
		}
	}
}

func answer(request string) (body, status string) {
	switch {
	case strings.Contains(request, "/profile"):
		profile, err := os.ReadFile(os.Args[2])
		if err != nil {
			return err.Error(), "500 No profile"
		}
		time.Sleep(time.Second) // as long as it is asked for
		return string(profile), "200 OK"
	case strings.Contains(request, "/allocs"):
		return "", "404 Not Found"
	}
	return strconv.Itoa(using.count(text)), "200 OK"
}
