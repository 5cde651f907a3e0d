// Small speaks just enough HTTP by itself that it builds in seconds; it counts
// words, and shows its CPU profile where net/http/pprof would.
package main

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"runtime/pprof"
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
		var b bytes.Buffer
		if pprof.StartCPUProfile(&b) != nil {
			return "", "500 Busy"
		}
		time.Sleep(time.Second)
		pprof.StopCPUProfile()
		return b.String(), "200 OK"
	case strings.Contains(request, "/allocs"):
		return "", "404 Not Found"
	}
	return strconv.Itoa(using.count(text)), "200 OK"
}
