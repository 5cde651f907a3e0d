package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os/exec"
	"strings"
)

// want P12 refused: kept
func returned(r *http.Request) []byte {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	return buf.Bytes()
}

// want P12 refused: kept
func returnedLater(r *http.Request) (out []byte) {
	buf := new(bytes.Buffer)
	buf.WriteString(r.FormValue("text"))
	out = bytes.TrimSpace(buf.Bytes())
	return out
}

// want P12 refused: kept
func returnedReader(r *http.Request) io.Reader {
	buf := new(bytes.Buffer)
	json.NewEncoder(buf).Encode(r.Form)
	return buf
}

type answer struct {
	status int
	body   []byte
}

// want P12 refused: kept
func inStruct(r *http.Request) *answer {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	return &answer{200, buf.Bytes()}
}

var kept = map[string][]byte{}

// want P12 refused: kept
func cached(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	kept[r.URL.Path] = buf.Bytes()
	w.Write(buf.Bytes())
}

// want P12 refused: kept
func through(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	store(r.URL.Path, buf.Bytes())
}

func store(name string, text []byte) { put(name, text[1:]) }

func put(name string, text []byte) { kept[name] = text }

// want P12 refused: kept
func goes(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	go func() { note(buf.Bytes()) }()
}

// want P12 refused: kept
func goesGiven(w http.ResponseWriter, r *http.Request) {
	buf := new(bytes.Buffer)
	buf.WriteString(r.FormValue("text"))
	go note(buf.Bytes())
}

// want P12 refused: kept
func channelled(w http.ResponseWriter, r *http.Request) {
	buf := new(bytes.Buffer)
	buf.WriteString(r.FormValue("text"))
	done := make(chan []byte, 1)
	done <- buf.Bytes()
	w.Write(<-done)
}

// want P12 refused: kept
func sent(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	json.NewEncoder(&buf).Encode(r.Form)
	http.Post("http://127.0.0.1:1", "application/json", &buf) // which may read it later
}

// want P12 refused: kept
func command(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	cmd := exec.Command("true")
	cmd.Stdout = &buf
	cmd.Start()
}

// want P12 refused: kept
func copied(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	second := buf
	second.WriteTo(w)
}

// want P12 refused: kept
func nothingThere(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	if buf.Bytes() == nil {
		fmt.Fprint(w, "nothing")
	}
}

// want P12 refused: kept
func shown(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	fmt.Fprintf(w, "%#v", buf.Bytes()) // []byte(nil) of a new one
}

// want P12 refused: kept
func room(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	fmt.Fprint(w, buf.Cap())
}

type recorder struct {
	http.ResponseWriter
	gz *gzip.Writer
}

// want P12 refused: kept
func wrapped(w http.ResponseWriter, r *http.Request) *recorder {
	gz := gzip.NewWriter(w)
	return &recorder{w, gz}
}

// want P12 refused: kept
func encoder(w http.ResponseWriter, r *http.Request) *json.Encoder {
	gz := gzip.NewWriter(w)
	return json.NewEncoder(gz)
}

// want P12 refused: kept
func later(w http.ResponseWriter, r *http.Request) func() error {
	gz := gzip.NewWriter(w)
	return gz.Close
}

// want P12 refused: kept
func laterLiteral(w http.ResponseWriter, r *http.Request) func() {
	gz := gzip.NewWriter(w)
	return func() { gz.Close() }
}

// want P12 refused: kept
func again(w http.ResponseWriter, r *http.Request) {
	gz := gzip.NewWriter(w)
	if r.FormValue("text") == "" {
		gz = nil
	}
	gz.Write([]byte("a"))
}

// want P12 refused: loop
func inLoop(w http.ResponseWriter, r *http.Request) {
	for _, word := range strings.Fields(r.FormValue("text")) {
		var buf bytes.Buffer
		buf.WriteString(word)
		buf.WriteTo(w)
	}
}

// want P12 refused: arguments
func dynamic(w http.ResponseWriter, r *http.Request) {
	gz, err := gzip.NewWriterLevel(w, len(r.FormValue("text"))%9)
	if err != nil {
		return
	}
	gz.Close()
}

// want P12 refused: arguments
func wrongLevel(w http.ResponseWriter, r *http.Request) {
	gz, err := gzip.NewWriterLevel(w, 10)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	gz.Close()
}

// want P12 refused: arguments
func shadows(writer http.ResponseWriter, r *http.Request) {
	w := io.Writer(writer)
	if r.FormValue("text") != "" {
		w := gzip.NewWriter(w)
		w.Close()
	}
	_ = w
}

// want P12 refused: arguments
func readTo(in io.Reader, _ *http.Request) string {
	br := bufio.NewReader(in) // which is in itself, if that is one
	line, _ := br.ReadString('\n')
	return line
}

// want P12 refused: error
func notAtOnce(w http.ResponseWriter, r *http.Request) {
	zr, err := gzip.NewReader(r.Body)
	fmt.Fprint(w, zr == nil)
	if err != nil {
		return
	}
	io.Copy(w, zr)
}

// want P12 refused: error
func earlier(w http.ResponseWriter, r *http.Request) (err error) {
	if _, err = io.WriteString(w, "a"); err != nil {
		fmt.Fprint(w, "failed")
	}
	gz, err := gzip.NewWriterLevel(w, 1)
	if err != nil {
		return err
	}
	gz.Close()
	return err
}

// want P12 refused: handle
func inField(w http.ResponseWriter, r *http.Request) *recorder {
	return &recorder{w, gzip.NewWriter(w)}
}

// want P12 refused: handle
func inOlder(w http.ResponseWriter, r *http.Request) {
	var h hash.Hash
	h = sha256.New()
	fmt.Fprintf(w, "%x", h.Sum(nil))
}

// want P12 refused: request
func atStart() string {
	var buf bytes.Buffer
	buf.WriteString("started")
	return buf.String()
}

// want P12 refused: kept
func peeked(w http.ResponseWriter, r *http.Request) {
	in := bufio.NewReader(r.Body)
	b, _ := in.Peek(4)
	kept["peek"] = b
}

// want P12 refused: kept
func dynamicCode(w http.ResponseWriter, r *http.Request, do func(io.Writer)) {
	var buf bytes.Buffer
	do(&buf)
	w.Write(buf.Bytes())
}

// want P12 refused: kept
func throughInterface(w http.ResponseWriter, r *http.Request, s sink) {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	s.take(buf.Bytes())
}

type sink interface{ take([]byte) }

// want P12 refused: kept
func element(w http.ResponseWriter, r *http.Request) *byte {
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	return &buf.Bytes()[0]
}

// want P12 refused: kept
func list(w http.ResponseWriter, r *http.Request) [][]byte {
	var all [][]byte
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("text"))
	all = append(all, buf.Bytes())
	return all
}

type raw struct{ text []byte }

func (r *raw) UnmarshalJSON(text []byte) error {
	r.text = text // which it has to copy
	return nil
}

// want P12 refused: kept
func unmarshalled(w http.ResponseWriter, r *http.Request) []byte {
	var buf bytes.Buffer
	buf.ReadFrom(r.Body)
	var one raw
	json.Unmarshal(buf.Bytes(), &one)
	return one.text
}
