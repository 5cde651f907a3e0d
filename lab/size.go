package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes: 512M, 2G, 100000; K, M and G are powers of 1024.
func ParseSize(s string) (int64, error) {
	n, err := scaled(strings.TrimSuffix(strings.ToUpper(s), "B"), map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30})
	if err != nil {
		return 0, fmt.Errorf("%q is no size; write 512M or 2G", s)
	}
	return n, nil
}

// ParseRate reads bits per second as tc writes them: 10mbit, 800kbit, 1gbit;
// k, m and g are powers of 1000.
func ParseRate(s string) (int64, error) {
	n, err := scaled(strings.ToLower(s), map[string]float64{"": 1, "bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9})
	if err != nil {
		return 0, fmt.Errorf("%q is no rate; write 10mbit or 800kbit", s)
	}
	return n, nil
}

// scaled reads a number that is not negative with a unit.
func scaled(s string, units map[string]float64) (int64, error) {
	digits := strings.TrimLeft(s, "0123456789.")
	scale, ok := units[digits]
	if !ok {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, digits), 64)
	if err != nil || n*scale > 1<<60 {
		return 0, strconv.ErrSyntax
	}
	return int64(n * scale), nil
}
