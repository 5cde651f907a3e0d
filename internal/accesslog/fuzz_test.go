package accesslog

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzClock: a date is read as the same moment whatever was read before it (the clock
// remembers days and minutes), its bytes stay, and what was read can be written and read
// again.
func FuzzClock(f *testing.F) {
	dates := []string{"12/May/2024:09:50:40 +0000", "2024-05-12T09:50:40.356130693+02:00", "2024-05-12 09:50:40,123", "12/05/2024 09:50:40", "Sun May 12 09:50:40 2024",
		"1715507440.098", "1715507440098", "19/Aug/2021 10:00:00 771", "2024-05-12T09:50:40.098Z[Etc/UTC]", "20240512T095040Z", "12-May-2024 09:50:40", "Sun, 12 May 2024 09:50:40 GMT"}
	for i, a := range dates {
		f.Add(a, dates[(i+1)%len(dates)])
	}
	f.Add("2024-02-29T23:59:60Z", "29/Feb/2023:24:00:00 +9999")
	f.Fuzz(func(t *testing.T, a, b string) {
		fresh := func(s string) (time.Time, bool) { return (&clock{}).read([]byte(s)) }
		wantA, okA := fresh(a)
		wantB, okB := fresh(b)
		var c clock
		for _, one := range []struct {
			text string
			want time.Time
			ok   bool
		}{{a, wantA, okA}, {b, wantB, okB}, {a, wantA, okA}, {a, wantA, okA}, {b, wantB, okB}} {
			text := []byte(one.text)
			got, ok := c.read(text)
			if ok != one.ok || ok && !got.Equal(one.want) {
				t.Fatalf("%q is %v %t beside %q and %q, %v %t alone", one.text, got, ok, a, b, one.want, one.ok)
			}
			if string(text) != one.text {
				t.Fatalf("%q became %q", one.text, text)
			}
		}
		if okA && wantA.Year() > 0 && wantA.Year() < 10000 {
			text := wantA.UTC().Format("2006-01-02T15:04:05.000000000Z07:00")
			if again, ok := fresh(text); !ok || !again.Equal(wantA) {
				t.Errorf("%q is %v, which is read as %v %t", a, wantA, again, ok)
			}
		}
	})
}

// FuzzNames: a name means the same however it is joined and as often as it is asked for;
// a unit behind it is the time's; how far names are apart does not depend on the order.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"request_time", "requestTimeMs", "Response-Time", "durationMillis", "http.response.status_code", "took", "latency_ns", "lantency", "µs", "X", "bytes.Sent"} {
		f.Add(name, "duration")
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		one := snake([]byte(name))
		if again := snake([]byte(one)); again != one && len(one) <= maxKey {
			t.Errorf("%q is %q, and that is %q", name, one, again)
		}
		p := timeName([]byte(name))
		var c clock
		first := c.placeOf([]byte(name))
		c.placeOf([]byte(other))
		if second := c.placeOf([]byte(name)); !reflect.DeepEqual(first, second) {
			t.Errorf("%q is %+v, then %+v", name, first, second)
		}
		if _, known := timeNames[one]; known && p.kind != kindOther {
			for unit, want := range map[string]time.Duration{"_ms": time.Millisecond, "_us": time.Microsecond, "_ns": time.Nanosecond, "_s": seconds} {
				if got := timeName([]byte(one + unit)); len(one)+len(unit) <= maxKey && (got.kind != p.kind || got.unit != want) {
					t.Errorf("%s%s is %+v", one, unit, got)
				}
			}
		}
		there, back := edits(name, other), edits(other, name)
		if there != back || (there == 0) != (name == other) && len(name)+len(other) < 200 {
			t.Errorf("from %q to %q are %d edits, back %d", name, other, there, back)
		}
		// As a label of a log it makes nothing panic, and what is found is of the log.
		line := []byte(`{"method":"GET","path":"/a","` + name + `":` + `12,"` + other + `":"x"}`)
		found, _ := aliases([][]byte{line, line, line})
		for label := range found {
			if pairs, _ := pairsOf(line); pairs[label] == "" && pairs["_source."+label] == "" && !strings.Contains(string(line), label) {
				t.Errorf("%q is no label of %s", label, line)
			}
		}
	})
}

// FuzzDispatch: what a front controller is asked for is made of the query's own names and
// holds no text; two counts that are merged choose as one that saw all, unless a name that
// is no known one counts from its first value on.
func FuzzDispatch(f *testing.F) {
	f.Add("route=product/search&q=x\nroute=product/7&id=5\nroute=cart\nroute=cart&x=1\nroute=product/8", 2)
	f.Add("op=rpc\nop=feeds&op=x\naction=list&module=user\nmodule=cart\ns=a%2Fb", 1)
	f.Add("page=%2Fa%2Fb&=&&a=%zz\npage=/c\npage=/d\nnext=/a/b\ndo=a\x00b", 3)
	f.Fuzz(func(t *testing.T, text string, at int) {
		queries := strings.Split(text, "\n")
		at = min(max(at, 0), len(queries))
		var all, begin, end Dispatch
		for i, q := range queries {
			before := []byte(q)
			got := string(all.Operation([]byte("x"), before))
			if string(before) != q || got[0] != 'x' {
				t.Fatalf("%q became %q, %q", q, before, got)
			}
			for pair := range strings.SplitSeq(got[1:], "&") {
				name, value, ok := strings.Cut(pair, "=")
				if pair != "" && (!ok || !strings.Contains(q, name) || value == "" || len(value) > 300 || bytes.ContainsAny([]byte(value), " \x00%<>\"'&")) {
					t.Errorf("%q asks for %q", q, got[1:])
				}
			}
			part := &begin
			if i >= at {
				part = &end
			}
			part.Operation(nil, []byte(q))
		}
		begin.Merge(&end)
		chosen := all.Chosen("/index.php")
		for _, d := range chosen {
			if !slices.Contains(all.Known(), d.Name) {
				t.Errorf("%q is chosen of %q", d.Name, all.Known())
			}
		}
		if begin.Requests != all.Requests || len(begin.params) > maxDispatchers {
			return // of more parameters the first ones count
		}
		for _, p := range begin.params {
			if p.rank == unknownRank {
				return
			}
		}
		if got := begin.Chosen("/index.php"); !slices.Equal(got, chosen) {
			t.Errorf("%q: %v merged at %d, %v of all", text, got, at, chosen)
		}
	})
}
