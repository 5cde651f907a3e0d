package evidence

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

var noDeadline time.Time

// monitorStream hears Redis's MONITOR.
type monitorStream struct {
	service string
	control net.Conn
	answers *bufio.Reader
	log     *capture
	// connections that the server had received at each mark.
	connections map[int]int64
	countErr    error
}

func openMonitor(ctx context.Context, h host.Host, svc *stack.Service) (*monitorStream, error) {
	m := &monitorStream{service: svc.Name, connections: map[int]int64{}}
	var err error
	if m.control, err = stack.DialCache(ctx, h, svc); err != nil {
		return nil, err
	}
	m.answers = bufio.NewReader(m.control)
	conn, err := stack.DialCache(ctx, h, svc)
	if err != nil {
		m.close()
		return nil, err
	}
	answer, err := monitorAnswer(ctx, conn)
	if err == nil && answer != "+OK" {
		err = fmt.Errorf("it refuses MONITOR (%s); kasoku.yaml needs login: {password_file: …} of a user with +monitor +echo +info", firstWord(answer))
	}
	if err != nil {
		conn.Close()
		m.close()
		return nil, fmt.Errorf("hear %s: %w", svc.Name, err)
	}
	m.log = startCapture(conn)
	return m, nil
}

// firstWord of an error answer is its code; the rest may quote what was sent.
func firstWord(answer string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(answer, "-"), " ")
	return word
}

func monitorAnswer(ctx context.Context, conn net.Conn) (string, error) {
	release, err := bounded(ctx, conn)
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := io.WriteString(conn, stack.RedisCommand("MONITOR")); err != nil {
		return "", err
	}
	line, err := readPlainLine(conn)
	if err != nil {
		return "", err
	}
	return line, conn.SetDeadline(noDeadline)
}

// readPlainLine reads one line and nothing of what follows it.
func readPlainLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for len(line) < 1024 {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return strings.TrimRight(string(line), "\r"), nil
}

func (m *monitorStream) name() string { return m.service }

// maxRedisAnswer: INFO stats is 2 KB.
const maxRedisAnswer = 1 << 20

// ask sends one command and returns its bulk string.
func (m *monitorStream) ask(ctx context.Context, words ...string) (string, error) {
	release, err := bounded(ctx, m.control)
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := io.WriteString(m.control, stack.RedisCommand(words...)); err != nil {
		return "", err
	}
	head, err := m.answers.ReadString('\n')
	if err != nil {
		return "", err
	}
	head = strings.TrimRight(head, "\r\n")
	n, err := strconv.Atoi(strings.TrimPrefix(head, "$"))
	if !strings.HasPrefix(head, "$") || err != nil || n < 0 || n > maxRedisAnswer {
		return "", fmt.Errorf("it answers %s with %s", words[0], firstWord(head))
	}
	body := make([]byte, n+2)
	if _, err := io.ReadFull(m.answers, body); err != nil {
		return "", err
	}
	return string(body[:n]), nil
}

func (m *monitorStream) mark(ctx context.Context, n int) error {
	if _, err := m.ask(ctx, "ECHO", trace.MarkKey(n)); err != nil {
		return err
	}
	if m.countErr != nil {
		return nil
	}
	info, err := m.ask(ctx, "INFO", "stats")
	if err != nil {
		m.countErr = err
		return ctx.Err()
	}
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "total_connections_received:"); ok {
			m.connections[n], m.countErr = strconv.ParseInt(v, 10, 64)
		}
	}
	return nil
}

func (m *monitorStream) finish(ctx context.Context, last int) ([]trace.Event, string, error) {
	end := []byte(`"` + trace.MarkKey(last) + `"`)
	data, err := m.log.until(ctx, func(data []byte) bool {
		at := bytes.Index(data, end)
		return at >= 0 && bytes.IndexByte(data[at:], '\n') >= 0
	})
	if err != nil {
		return nil, "", fmt.Errorf("hear %s: %w", m.service, err)
	}
	got, err := trace.RedisEvents(bytes.NewReader(data), m.service)
	if err != nil {
		return nil, "", err
	}
	text := ""
	if got.Bad > 0 {
		text = fmt.Sprintf("%d lines were not understood", got.Bad)
	}
	if m.countErr != nil {
		text = strings.TrimPrefix(text+"; not judged: connections: "+m.countErr.Error(), "; ")
	}
	return got.Events, text, nil
}

// amend puts the connections that were opened in front: MONITOR does not show
// them.
func (m *monitorStream) amend(n int, calls []trace.Call) []trace.Call {
	from, ok1 := m.connections[n]
	to, ok2 := m.connections[n+1]
	if !ok1 || !ok2 || m.countErr != nil || to <= from {
		return calls
	}
	var out []trace.Call
	for range min(to-from, 1000) { // more is an attack, not a request
		out = append(out, trace.Call{Service: m.service, System: trace.Redis, Kind: trace.Connect})
	}
	return append(out, calls...)
}

func (m *monitorStream) close() {
	m.control.Close()
	if m.log != nil {
		m.log.close()
	}
}
