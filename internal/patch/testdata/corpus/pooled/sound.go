// Package main makes in each request what it could use again.
package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	kgzip "github.com/klauspost/compress/gzip"
)

// want P12
func packed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	gz := gzip.NewWriter(w)
	defer gz.Close()
	io.WriteString(gz, r.FormValue("text"))
}

// want P12
func fast(w http.ResponseWriter, r *http.Request) {
	gz, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	gz.Name = r.FormValue("name")
	fmt.Fprintf(gz, "%s\n", r.FormValue("text"))
	if err := gz.Close(); err != nil {
		return
	}
}

// want P12
func levelled(w http.ResponseWriter, r *http.Request) {
	zw, err := zlib.NewWriterLevel(w, 9)
	if err != nil {
		return
	}
	_, err = zw.Write([]byte(r.FormValue("text")))
	if err != nil {
		return
	}
	zw.Close()
}

// want P12
func afterError(w http.ResponseWriter, r *http.Request) {
	text, err := json.Marshal(r.Form)
	if err != nil {
		return
	}
	fw, err := flate.NewWriter(w, flate.DefaultCompression)
	if err != nil {
		return
	}
	fw.Write(text)
	fw.Flush()
	if r.FormValue("whole") != "" {
		fw.Close()
	}
}

// want P12
func brotlied(w http.ResponseWriter, r *http.Request) {
	bw := brotli.NewWriterLevel(w, 4)
	json.NewEncoder(bw).Encode(r.Form)
	bw.Close()
}

// want P12
func other(w http.ResponseWriter, r *http.Request) {
	packer := kgzip.NewWriter(w)
	enc := json.NewEncoder(packer)
	enc.SetIndent("", " ")
	if enc.Encode(r.Form) != nil {
		return // without Close
	}
	packer.Close()
}

// want P12
func unpacked(w http.ResponseWriter, r *http.Request) {
	zr, err := gzip.NewReader(strings.NewReader(packedText(r.FormValue("text"))))
	if err != nil {
		http.Error(w, "no gzip", http.StatusBadRequest)
		return
	}
	defer zr.Close()
	text, err := io.ReadAll(zr)
	fmt.Fprint(w, string(text), err)
}

// want P12
// want P12
func packedText(text string) string {
	buf := new(bytes.Buffer)
	gz := gzip.NewWriter(buf)
	gz.Write([]byte(text))
	gz.Close()
	if strings.Contains(text, "broken") {
		return "broken"
	}
	return buf.String()
}

// want P12
func encoded(w http.ResponseWriter, r *http.Request) {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(r.Form); err != nil {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	w.Header().Set("X-Length", fmt.Sprint(buf.Len()))
	w.Write(buf.Bytes())
}

var page, _ = template.New("").Parse(`<p>{{range $k, $v := .}}{{$k}}={{$v}} {{end}}</p>`)

// want P12
func rendered(w http.ResponseWriter, r *http.Request) {
	buf := &bytes.Buffer{}
	if err := page.Execute(buf, r.Form); err != nil {
		return
	}
	note(buf.Bytes())
	buf.WriteTo(w)
}

var noted int

// note keeps nothing of what it is given.
func note(text []byte) {
	for what, part := range map[string][]byte{"all": text, "half": text[:len(text)/2]} {
		if bytes.Contains(part, []byte(what)) {
			noted += len(string(part))
		}
	}
}

// want P12
func sized(w http.ResponseWriter, r *http.Request) {
	buf := bytes.NewBuffer(make([]byte, 0, 512))
	defer func() { fmt.Fprint(w, buf.Len(), " ", buf.String()) }()
	buf.WriteString(strings.ToUpper(r.FormValue("text")))
}

// want P12
func lines(w http.ResponseWriter, r *http.Request) {
	out := bufio.NewWriterSize(w, 1<<16)
	defer out.Flush()
	for _, line := range strings.Fields(r.FormValue("text")) {
		out.WriteString(line)
		out.WriteByte('\n')
	}
}

// want P12
func table(w http.ResponseWriter, r *http.Request) {
	out := bufio.NewWriter(w)
	rows := csv.NewWriter(out)
	for k, v := range map[string]string{r.FormValue("name"): r.FormValue("text")} {
		rows.Write([]string{k, v})
	}
	rows.Flush()
	out.Flush()
}

// want P12
func firstLine(w http.ResponseWriter, r *http.Request) {
	in := bufio.NewReader(r.Body)
	line, _ := in.ReadString('\n')
	fmt.Fprint(w, line)
}

// want P12
func digest(w http.ResponseWriter, r *http.Request) {
	h := sha256.New()
	io.WriteString(h, r.FormValue("text"))
	fmt.Fprint(w, hex.EncodeToString(h.Sum(nil)))
}

// want P12
func inLiteral(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var out bytes.Buffer
		out.WriteString(text)
		out.WriteString(r.FormValue("text"))
		b := out.Bytes()
		fmt.Fprintf(w, "%x", sha256.Sum256(b))
	})
}
