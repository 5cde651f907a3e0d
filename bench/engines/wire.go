package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"

	"kasoku/bench/load/target"
)

// bufferSize holds an answer of the target with its headers (1.3 KB) and more.
const bufferSize = 8192

// request is the GET that everyone sends.
func request(a netip.AddrPort) []byte {
	return fmt.Appendf(nil, "GET /%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: kasoku\r\nAccept: */*\r\n\r\n", target.Page, a)
}

var (
	statusOK   = []byte("HTTP/1.1 200 ")
	headerEnd  = []byte("\r\n\r\n")
	lengthName = []byte("\r\nContent-Length: ")
)

// complete says whether b holds a whole answer. It knows the one shape that
// nginx sends for a file: 200, and a Content-Length.
func complete(b []byte) (bool, error) {
	end := bytes.Index(b, headerEnd)
	if end < 0 {
		if len(b) >= bufferSize {
			return false, errors.New("the answer's header does not end")
		}
		return false, nil
	}
	if !bytes.HasPrefix(b, statusOK) {
		return false, fmt.Errorf("the answer begins with %q", b[:min(len(b), 40)])
	}
	at := bytes.Index(b[:end], lengthName)
	if at < 0 {
		return false, errors.New("the answer has no Content-Length")
	}
	length := 0
	for _, c := range b[at+len(lengthName) : end] {
		if c == '\r' {
			break
		}
		if c < '0' || c > '9' || length > bufferSize {
			return false, fmt.Errorf("the answer's Content-Length is no number up to %d", bufferSize)
		}
		length = length*10 + int(c-'0')
	}
	want := end + len(headerEnd) + length
	switch {
	case want > bufferSize:
		return false, fmt.Errorf("the answer has %d bytes; %d is the most", want, bufferSize)
	case len(b) > want:
		return false, errors.New("more came than was asked for")
	}
	return len(b) == want, nil
}
