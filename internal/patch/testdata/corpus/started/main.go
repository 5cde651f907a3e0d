// Command started asks programs that start others for random texts: started SEED.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
)

var handlers = []http.HandlerFunc{signIn, etag, lineSum, first, inBase64, inOpenSSL, short, sumOfBody, piped}

// main prints the answers to a few texts that a shell or echo may take in another way, and
// to random ones.
func main() {
	seed, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(atStart()))
	random := rand.New(rand.NewPCG(seed, 0))
	texts := []string{"", "-n", "-e", "-neE", "- n", `a\tb\\c`, `\`, "it's", "''", "$HOME `id` !1", "a\nb\n", "\n", "a\x00b", "\xff\xfe", "ä日本", strings.Repeat("long", 6000), strings.Repeat("'", 40000), strings.Repeat("x", 200000)}
	for range 12 {
		texts = append(texts, drawn(random))
	}
	for _, text := range texts {
		for i, handler := range handlers {
			fmt.Println(i, ask(context.Background(), handler, text))
		}
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(ask(over, signIn, "text"), ask(over, short, "text"))
}

func ask(ctx context.Context, h http.HandlerFunc, text string) string {
	r := httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(url.Values{"text": {text}, "name": {"me"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return fmt.Sprintf("%d %q", w.Code, w.Body.String())
}

func drawn(random *rand.Rand) string {
	b := make([]byte, random.IntN(100))
	for i := range b {
		b[i] = "ab '\"\\$-=\n\xc3\xa4%"[random.IntN(13)]
	}
	return string(b)
}

// routes makes them handlers of requests.
func routes(mux *http.ServeMux) {
	for _, h := range []http.HandlerFunc{unquoted, quotedAsGo, quotedTwice, oneQuote, ofVersion, ofVersionToo, wrapped, part, ofDigits, expands, failing, salted, twoTexts,
		chosen, ofFile, ofOpenFile, ofNothing, withErrors, environment, changedBetween, listed} {
		mux.HandleFunc("/", h)
	}
}
