package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var handlers = map[string]http.Handler{
	"packed": http.HandlerFunc(packed), "fast": http.HandlerFunc(fast), "levelled": http.HandlerFunc(levelled), "afterError": http.HandlerFunc(afterError),
	"brotlied": http.HandlerFunc(brotlied), "other": http.HandlerFunc(other), "unpacked": http.HandlerFunc(unpacked), "encoded": http.HandlerFunc(encoded),
	"rendered": http.HandlerFunc(rendered), "sized": http.HandlerFunc(sized), "lines": http.HandlerFunc(lines), "table": http.HandlerFunc(table),
	"firstLine": http.HandlerFunc(firstLine), "digest": http.HandlerFunc(digest), "inLiteral": inLiteral("from outside"),
}

// main asks every handler for random texts, by eight at a time, and prints a digest of each answer.
func main() {
	seed, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil {
		panic(err)
	}
	fmt.Println("at the start:", atStart() == "started")
	var names []string
	for name := range handlers {
		names = append(names, name)
	}
	slices.Sort(names)
	const each = 100
	out := make([]string, len(names)*each)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := worker; i < len(out); i += 8 {
				out[i] = names[i%len(names)] + " " + ask(handlers[names[i%len(names)]], rand.New(rand.NewPCG(seed, uint64(i))))
			}
		}()
	}
	group.Wait()
	fmt.Println(strings.Join(out, "\n"))
}

func ask(h http.Handler, random *rand.Rand) string {
	words := []string{"", "broken ", "all ", "half", "a line\n", "é", strings.Repeat("long ", random.IntN(3000)), "<b>", "0"}
	var text strings.Builder
	for range random.IntN(20) {
		text.WriteString(words[random.IntN(len(words))])
		if random.IntN(3) == 0 {
			fmt.Fprint(&text, random.Uint64())
		}
	}
	r := httptest.NewRequest("POST", "/?"+url.Values{"text": {text.String()}, "name": {strconv.Itoa(random.IntN(100))}}.Encode(), io.NopCloser(bytes.NewReader([]byte(text.String()))))
	r.ParseForm()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return fmt.Sprintf("%d %d %v %x", w.Code, w.Body.Len(), w.Header(), sha256.Sum256(w.Body.Bytes()))
}
