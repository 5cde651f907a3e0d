package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// routesOf are the routes of requests that take milliseconds and bytes as given.
func routesOf(t *testing.T, targets []string, took, size func(i int) int) []string {
	t.Helper()
	var log strings.Builder
	for i, target := range targets {
		fmt.Fprintf(&log, `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET %s HTTP/1.1" 200 %d "-" "curl" 0.%03d`+"\n", target, size(i), took(i))
	}
	for _, workers := range []int{1, 3} {
		a := digestText(t, log.String(), AccessOptions{Workers: workers})
		var out []string
		for _, r := range a.Routes {
			out = append(out, fmt.Sprintf("%s %d", r.Route, r.Count))
		}
		slices.Sort(out)
		if workers == 3 {
			return out
		}
	}
	return nil
}

// One address that serves everything is split by the parameters that tell what is asked
// for, with ids folded; a search, a page's number, a language and an order are none.
func TestRoutesOfAFrontController(t *testing.T) {
	repeat := func(n int, form string) (out []string) {
		for i := range n {
			out = append(out, strings.ReplaceAll(form, "%d", fmt.Sprint(i)))
		}
		return out
	}
	words := strings.Fields("shoes shirts hats socks boots coats belts gloves scarves rings watches bags")
	var searches, searched []string
	for _, w := range words {
		searches = append(searches, repeat(3, "/search?q="+w)...)
		searched = append(searched, repeat(3, "/index.php?route=product/search&search="+w)...)
	}
	for name, c := range map[string]struct {
		targets []string
		want    []string
	}{
		"OpenCart": {append(append(repeat(6, "/index.php?route=product/product&id=%d"), repeat(5, "/index.php?route=common/home")...), repeat(2, "/index.php")...),
			[]string{"/index.php 2", "/index.php?route=common/home 5", "/index.php?route=product/product 6"}},
		"a coded slash": {append(repeat(6, "/index.php?r=site%2Findex"), repeat(5, "/index.php?r=post%2Fview&id=%d")...), []string{"/index.php?r=post/view 5", "/index.php?r=site/index 6"}},
		"controller and action, in any order": {append(append(repeat(3, "/?controller=user&action=list"), repeat(3, "/?action=edit&controller=user&id=%d")...), repeat(3, "/?controller=cart")...),
			[]string{"/?controller=cart 3", "/?controller=user&action=edit 3", "/?controller=user&action=list 3"}},
		"m and a":             {append(repeat(6, "/index.php?m=user&a=login"), repeat(6, "/index.php?m=news&a=show&id=%d")...), []string{"/index.php?m=news&a=show 6", "/index.php?m=user&a=login 6"}},
		"Drupal":              {append(append(repeat(6, "/index.php?q=node/%d"), repeat(3, "/index.php?q=user")...), repeat(4, "/index.php?q=node/%d/edit")...), []string{"/index.php?q=node/:id 6", "/index.php?q=node/:id/edit 4", "/index.php?q=user 3"}},
		"pages by names":      {append(repeat(6, "/index.php?page=home"), repeat(6, "/index.php?page=contact")...), []string{"/index.php?page=contact 6", "/index.php?page=home 6"}},
		"an action at a path": {append(repeat(6, "/wp-admin/admin-ajax.php?action=heartbeat"), repeat(6, "/wp-admin/admin-ajax.php?action=query&id=%d")...), []string{"/wp-admin/admin-ajax.php?action=heartbeat 6", "/wp-admin/admin-ajax.php?action=query 6"}},
		"AWS's Action":        {append(repeat(6, "/?Action=DescribeHosts&Version=2"), repeat(6, "/?Action=RunJobs&Version=2")...), []string{"/?Action=DescribeHosts 6", "/?Action=RunJobs 6"}},
		"a name of one's own": {append(repeat(6, "/index.php?seite=shop/list"), repeat(6, "/index.php?seite=shop/item/%d")...), []string{"/index.php?seite=shop/item/:id 6", "/index.php?seite=shop/list 6"}},
		"WordPress' rest_route": {append(repeat(6, "/?rest_route=/wp/v2/posts/%d"), repeat(6, "/?rest_route=/wp/v2/users")...),
			[]string{"/?rest_route=/wp/v2/posts/:id 6", "/?rest_route=/wp/v2/users 6"}},
		"a search":               {searches, []string{"/search 36"}},
		"a search of a route":    {append(searched, repeat(4, "/index.php?route=common/home")...), []string{"/index.php?route=common/home 4", "/index.php?route=product/search 36"}},
		"numbers of pages":       {repeat(20, "/list.php?page=%d"), []string{"/list.php 20"}},
		"a language":             {append(repeat(9, "/shop.php?lang=en"), repeat(9, "/shop.php?lang=de")...), []string{"/shop.php 18"}},
		"an order":               {append(repeat(9, "/shop.php?sort=price&order=asc"), repeat(9, "/shop.php?sort=name&order=desc")...), []string{"/shop.php 18"}},
		"where to go on":         {append(repeat(9, "/login.php?return=shop/cart"), repeat(9, "/login.php?return=shop/home")...), []string{"/login.php 18"}},
		"in few of the requests": {append(repeat(20, "/a.php?id=%d"), "/a.php?page=home", "/a.php?page=about"), []string{"/a.php 22"}},
		"one value alone":        {repeat(9, "/index.php?route=common/home"), []string{"/index.php 9"}},
		"too many values": {func() (out []string) {
			for i := range 300 {
				out = append(out, "/index.php?action="+letters(i*7919))
			}
			return out
		}(), []string{"/index.php 300"}},
	} {
		got := routesOf(t, c.targets, func(i int) int { return 10 + (i*7)%50 }, func(i int) int { return 500 + len(c.targets[i])*10 + i%7 })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A parameter that may be anything splits a script only if its values make a difference.
func TestDispatchExplainsTimes(t *testing.T) {
	var targets []string
	for i := range 60 {
		targets = append(targets, "/shop.php?show="+[]string{"grid", "list"}[i%2])
	}
	same := func(i int) int { return 10 + i*13%37 }
	if got := routesOf(t, targets, same, same); !slices.Equal(got, []string{"/shop.php 60"}) {
		t.Errorf("times that are alike: %q", got)
	}
	if got := routesOf(t, targets, func(i int) int { return 10 + i%2*200 + i*13%37 }, same); len(got) != 2 {
		t.Errorf("times that differ: %q", got)
	}
}

// What is asked for is told apart in bounded memory, and all requests are counted, where
// many paths have many values.
func TestDispatchIsBounded(t *testing.T) {
	var log strings.Builder
	const n = 40_000
	for i := range n {
		fmt.Fprintf(&log, `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /%s.php?action=%s&controller=%s HTTP/1.1" 200 5`+"\n", letters(i%500*7919), letters(i*104729), letters(i%90))
	}
	run := newAccessRun([]Input{textInput("log", log.String(), true)}, AccessOptions{Workers: 2}, nil)
	run.slots = 1024
	a, err := run.do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, r := range a.Routes {
		sum += r.Count
	}
	if sum != n || len(a.Routes) > 3000 {
		t.Errorf("%d requests in %d routes", sum, len(a.Routes))
	}
}
