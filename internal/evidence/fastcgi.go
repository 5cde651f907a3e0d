package evidence

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// FastCGI record types and the one role used (FastCGI Specification 1.0, §8).
const (
	fcgiVersion   = 1
	fcgiBegin     = 1
	fcgiEnd       = 3
	fcgiParams    = 4
	fcgiStdin     = 5
	fcgiStdout    = 6
	fcgiStderr    = 7
	fcgiResponder = 1
	fcgiRequest   = 1       // the ID of the only request on the connection
	fcgiMaxAnswer = 1 << 20 // a status page is some kilobytes
)

// fastcgiRequest builds the records of one GET without a body.
func fastcgiRequest(params map[string]string) []byte {
	var out bytes.Buffer
	record := func(kind byte, content []byte) {
		out.Write([]byte{fcgiVersion, kind, 0, fcgiRequest})
		binary.Write(&out, binary.BigEndian, uint16(len(content)))
		out.Write([]byte{0, 0})
		out.Write(content)
	}
	record(fcgiBegin, []byte{0, fcgiResponder, 0, 0, 0, 0, 0, 0})
	names := make([]string, 0, len(params))
	for name := range params {
		names = append(names, name)
	}
	slices.Sort(names)
	var pairs bytes.Buffer
	for _, name := range names {
		for _, s := range []string{name, params[name]} {
			if len(s) < 128 {
				pairs.WriteByte(byte(len(s)))
			} else {
				binary.Write(&pairs, binary.BigEndian, uint32(len(s))|1<<31)
			}
		}
		pairs.WriteString(name + params[name])
	}
	record(fcgiParams, pairs.Bytes())
	record(fcgiParams, nil)
	record(fcgiStdin, nil)
	return out.Bytes()
}

// parseFastCGI reads an answer: its standard output up to the end of the
// request.
func parseFastCGI(r io.Reader) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, fmt.Errorf("read FastCGI answer: %w", err)
		}
		if head[0] != fcgiVersion {
			return nil, fmt.Errorf("read FastCGI answer: version %d, not 1: is this a FastCGI server?", head[0])
		}
		content := make([]byte, int(binary.BigEndian.Uint16(head[4:6]))+int(head[6]))
		if _, err := io.ReadFull(r, content); err != nil {
			return nil, fmt.Errorf("read FastCGI answer: %w", err)
		}
		content = content[:len(content)-int(head[6])]
		switch head[1] {
		case fcgiStdout:
			stdout.Write(content)
		case fcgiStderr:
			stderr.Write(content)
		case fcgiEnd:
			if stdout.Len() == 0 && stderr.Len() > 0 {
				return nil, errors.New("FastCGI: " + strings.TrimSpace(stderr.String()))
			}
			return stdout.Bytes(), nil
		}
		if stdout.Len()+stderr.Len() > fcgiMaxAnswer {
			return nil, fmt.Errorf("read FastCGI answer: longer than %d bytes", fcgiMaxAnswer)
		}
	}
}

// fastcgiGet asks a FastCGI server at "unix:/path", "/path" or "host:port", as
// seen from the host, for one page and returns its body. Any status but 200 is
// an error.
func fastcgiGet(ctx context.Context, h host.Host, address, page, query string, timeout time.Duration) ([]byte, error) {
	network := "tcp"
	if rest, ok := strings.CutPrefix(address, "unix:"); ok {
		address = rest
	}
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	dial, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := h.DialContext(dial, network, address)
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", address, page, err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", address, page, err)
	}
	params := map[string]string{"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "REQUEST_METHOD": "GET",
		"SCRIPT_NAME": page, "SCRIPT_FILENAME": page, "REQUEST_URI": page + "?" + query, "QUERY_STRING": query}
	if _, err := conn.Write(fastcgiRequest(params)); err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", address, page, err)
	}
	answer, err := parseFastCGI(conn)
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", address, page, err)
	}
	head, body, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	if !ok {
		return nil, fmt.Errorf("ask %s for %s: the answer has no header", address, page)
	}
	for line := range strings.Lines(string(head)) {
		if status, is := strings.CutPrefix(line, "Status: "); is && !strings.HasPrefix(status, "200") {
			return nil, fmt.Errorf("ask %s for %s: answered %s", address, page, strings.TrimSpace(status))
		}
	}
	return body, nil
}
