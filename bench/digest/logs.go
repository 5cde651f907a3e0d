package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// request is one line's content.
type request struct {
	at           time.Time
	client       string
	method       string
	target       []byte
	status, size int
	micros       int64
	upstream     bool
	cache        string
	agent        string
}

var agents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0",
	"okhttp/4.12.0",
}

// form is a way to write a request.
type form struct {
	name  string
	write func(b []byte, q *request) []byte
}

var forms = []form{{"ltsv", writeLTSV}, {"json", writeJSONLine}, {"combined", writeCombined}}

// writeLTSV writes the labels that alp expects and nginx configurations for it
// usually have.
func writeLTSV(b []byte, q *request) []byte {
	b = q.at.AppendFormat(append(b, "time:"...), "02/Jan/2006:15:04:05 -0700")
	b = append(append(b, "\thost:"...), q.client...)
	b = append(append(b, "\tforwardedfor:-\treq:"...), q.method...)
	b = append(append(append(b, ' '), q.target...), " HTTP/1.1\tstatus:"...)
	b = strconv.AppendInt(b, int64(q.status), 10)
	b = append(append(b, "\tmethod:"...), q.method...)
	b = append(append(b, "\turi:"...), q.target...)
	b = strconv.AppendInt(append(b, "\tsize:"...), int64(q.size), 10)
	b = append(append(b, "\treferer:-\tua:"...), q.agent...)
	b = appendSeconds(append(b, "\treqtime:"...), q.micros)
	b = append(append(b, "\tcache:"...), q.cache...)
	b = append(b, "\truntime:-\tapptime:"...)
	b = q.appendUpstream(b)
	return append(b, "\tvhost:shop.example\n"...)
}

func writeJSONLine(b []byte, q *request) []byte {
	b = q.at.AppendFormat(append(b, `{"time":"`...), time.RFC3339)
	b = append(append(b, `","host":"`...), q.client...)
	b = append(append(b, `","forwardedfor":"-","method":"`...), q.method...)
	b = append(append(b, `","uri":"`...), q.target...)
	b = strconv.AppendInt(append(b, `","status":`...), int64(q.status), 10)
	b = strconv.AppendInt(append(b, `,"body_bytes":`...), int64(q.size), 10)
	b = appendSeconds(append(b, `,"request_time":`...), q.micros)
	b = append(b, `,"response_time":"`...)
	b = q.appendUpstream(b)
	b = append(append(b, `","cache":"`...), q.cache...)
	b = append(append(b, `","ua":"`...), q.agent...)
	return append(b, "\",\"referer\":\"-\",\"vhost\":\"shop.example\"}\n"...)
}

// writeCombined writes nginx's combined format with $request_time behind it.
func writeCombined(b []byte, q *request) []byte {
	b = q.at.AppendFormat(append(append(b, q.client...), " - - ["...), "02/Jan/2006:15:04:05 -0700")
	b = append(append(b, `] "`...), q.method...)
	b = append(append(append(b, ' '), q.target...), ` HTTP/1.1" `...)
	b = strconv.AppendInt(b, int64(q.status), 10)
	b = strconv.AppendInt(append(b, ' '), int64(q.size), 10)
	b = append(append(b, ` "-" "`...), q.agent...)
	return append(appendSeconds(append(b, `" `...), q.micros), '\n')
}

// appendSeconds writes 0.123, as nginx does.
func appendSeconds(b []byte, micros int64) []byte {
	ms := micros / 1000
	b = strconv.AppendInt(b, ms/1000, 10)
	return append(b, '.', byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10))
}

func (q *request) appendUpstream(b []byte) []byte {
	if !q.upstream {
		return append(b, '-')
	}
	return appendSeconds(b, q.micros*9/10)
}

// requestsOf calls each with n requests, the same ones every time.
func requestsOf(n int, each func(*request) error) error {
	r := rand.New(rand.NewPCG(7, 7))
	all := endpoints()
	var pick []int // an alias table would be overkill: 104 weights of up to 33,333
	for i := range all {
		for range all[i].weight / 100 {
			pick = append(pick, i)
		}
	}
	zone := time.FixedZone("", 9*3600)
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, zone)
	clients := make([]string, 5000)
	for i := range clients {
		clients[i] = fmt.Sprintf("10.%d.%d.%d", i/2500, i/250%10, i%250+1)
	}
	q := &request{}
	for i := range n {
		e := &all[pick[r.IntN(len(pick))]]
		if i%700 == 699 { // requests a second
			at = at.Add(time.Second)
		}
		*q = request{at: at, client: clients[r.IntN(len(clients))], method: e.method, target: e.target(q.target[:0], r), status: 200,
			agent: agents[r.IntN(len(agents))], upstream: e.mean > 1, cache: "-"}
		switch x := r.IntN(1000); {
		case x < 3:
			q.status = 500
		case x < 25:
			q.status = 404
		case x < 60 && e.method == "GET":
			q.status = 304
		}
		if q.status != 304 {
			q.size = int(float64(e.size) * (0.5 + r.Float64()))
		}
		// Log-normal, as service times are.
		q.micros = int64(e.mean * 1000 * math.Exp(0.6*r.NormFloat64()))
		if e.mean < 1 {
			q.cache = []string{"HIT", "HIT", "HIT", "MISS"}[r.IntN(4)]
		}
		if err := each(q); err != nil {
			return err
		}
	}
	return nil
}

// log is one file in the cache.
type log struct {
	path  string
	bytes int64 // unpacked
	lines int
}

// create writes a file whole or not at all.
func create(path string, write func(io.Writer) error) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	defer os.Remove(part) // nothing after the rename
	w := bufio.NewWriterSize(f, 1<<20)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", part, err)
	}
	return os.Rename(part, path)
}

// accessLog generates a log of n lines, or finds it in the cache.
func (b *bench) accessLog(f form, n int) (log, error) {
	l := log{path: filepath.Join(b.cache, fmt.Sprintf("access-%d.%s.log", n, f.name)), lines: n}
	err := create(l.path, func(w io.Writer) error {
		b.say("writing %s", l.path)
		var line []byte
		return requestsOf(n, func(q *request) error {
			line = f.write(line[:0], q)
			_, err := w.Write(line)
			return err
		})
	})
	if err != nil {
		return l, err
	}
	return l, b.warm(&l)
}

// warm reads a log once, so that it is in the page cache, and learns its size.
func (b *bench) warm(l *log) error {
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer f.Close()
	l.bytes, err = io.Copy(io.Discard, f)
	return err
}
