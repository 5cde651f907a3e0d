package diagnose

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"kasoku/internal/stack"
)

// fold finds a key whatever its case.
func fold[V any](m map[string]V, key string) (V, bool) {
	if v, ok := m[key]; ok {
		return v, true
	}
	for k, v := range m {
		if strings.EqualFold(k, key) {
			return v, true
		}
	}
	var none V
	return none, false
}

// number reads a plain number as a server prints it.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil
}

// size prints bytes with a binary unit.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// FrontPort is the port of load.url; "" if it is no URL.
func FrontPort(st *stack.Stack) string {
	u, err := url.Parse(st.Load.URL)
	switch {
	case err != nil || u.Host == "":
		return ""
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
