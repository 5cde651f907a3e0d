package main

import (
	"fmt"
	"testing"

	"kasoku/internal/load"
)

// Two hundred files of pages with no points are one line, and the steps stay to be seen.
func TestManyRoutesOfTheSamePointsAreOneLine(t *testing.T) {
	routes := []load.RouteSummary{{Label: "GET /", Weight: 1}}
	for i := range mostAlike + 1 {
		routes = append(routes, load.RouteSummary{Label: fmt.Sprintf("GET /%d.js", i)})
	}
	routes = append(routes, load.RouteSummary{Label: "POST /buy", Weight: 3})
	if got, want := fmt.Sprint(pointsOf(routes)), "[[GET / 1] [POST /buy 3] [each of 21 others 0]]"; got != want {
		t.Errorf("points: %s, want %s", got, want)
	}
}
