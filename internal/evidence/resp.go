package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of an answer: INFO of a server with many commands is some 30 kB, a
// slow log of 128 entries some hundreds.
const (
	maxBulk  = 16 << 20
	maxArray = 100000
	maxNest  = 8
)

// redisError is an answer that begins with "-". Only its code is kept: some
// errors quote the command's arguments.
type redisError struct{ Code string }

func (e redisError) Error() string {
	switch e.Code {
	case "NOAUTH", "WRONGPASS":
		return "the server wants a password (" + e.Code + "); write login: {password_file: …} for it in kasoku.yaml"
	case "NOPERM":
		return "the user may not do that (NOPERM)"
	}
	return "the server answered with the error " + e.Code
}

// readRESP reads one answer of Redis's protocol, version 2: string, int64,
// []any or nil. An error answer is returned as redisError; inside an array it
// is an element.
func readRESP(r *bufio.Reader) (any, error) {
	v, err := readRESPValue(r, 0)
	if err != nil {
		return nil, fmt.Errorf("read Redis answer: %w", err)
	}
	if e, ok := v.(redisError); ok {
		return nil, e
	}
	return v, nil
}

func readRESPValue(r *bufio.Reader, depth int) (any, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if line == "" || depth > maxNest {
		return nil, errors.New("not the Redis protocol")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		code, _, _ := strings.Cut(rest, " ")
		return redisError{shorten(code, 20)}, nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, errors.New("not the Redis protocol")
	}
	switch {
	case kind == ':':
		return n, nil
	case (kind == '$' || kind == '*') && n == -1:
		return nil, nil
	case kind == '$' && n >= 0 && n <= maxBulk:
		// Grown as it comes: a length alone must not take memory.
		var b strings.Builder
		if _, err := io.CopyN(&b, r, n); err != nil {
			return nil, err
		}
		if _, err := r.Discard(2); err != nil {
			return nil, err
		}
		return b.String(), nil
	case kind == '*' && n >= 0 && n <= maxArray:
		out := []any{}
		for range n {
			v, err := readRESPValue(r, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	return nil, errors.New("not the Redis protocol, or an answer that is too long")
}
