package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"kasoku/internal/digest"
)

// Bars of the issue.
const (
	timesAlp  = 20  // throughput of alp, at least so many times
	timesGrep = 1.0 // that of grep -c on the same file
)

// tenth is the part of a log that slow tools get.
const tenth = 10

// rareText is what grep counts: some lines in a thousand have it, so that
// grep's time is that of searching, not of matching.
var rareText = map[string]string{"ltsv": "status:500", "json": `"status":500`, "combined": `HTTP/1.1" 500`}

// accessLogs is part access.
func (b *bench) accessLogs(ctx context.Context) error {
	for _, f := range forms {
		whole, err := b.accessLog(f, b.lines)
		if err != nil {
			return err
		}
		part, err := b.accessLog(f, max(b.lines/tenth, 1))
		if err != nil {
			return err
		}
		tools := []tool{
			{name: "kasoku", log: whole, args: []string{b.kasoku, "digest", "-q", "-o", "json", whole.path}, check: b.checkAccess(whole)},
			{name: "grep -c", log: whole, args: shell(`LC_ALL=C grep -c "$1" "$2"`, rareText[f.name], whole.path)},
			{name: "wc -l", log: whole, args: []string{"wc", "-l", whole.path}},
		}
		tools = append(tools, b.alp(f.name, part)...)
		if f.name == "combined" {
			tools = append(tools, tool{name: "goaccess (1/10 of the log)", log: part, rounds: 1,
				args: b.find("goaccess", part.path, "--no-global-config", "--no-progress", "--log-format="+`%h - %^ [%d:%t %^] "%r" %s %b "%R" "%u" %T`, "--date-format=%d/%b/%Y", "--time-format=%T", "-o", "json")})
		}
		name := "access log, " + f.name
		got, err := b.compareTools(ctx, name, tools)
		if err != nil {
			return err
		}
		b.figures.judge(name, "throughput ÷ alp's", bar{timesAlp}, got["kasoku"], got.faster("alp (1/10 of the log)", "alp with patterns (1/10 of the log)"), "alp did not run: scripts/peers.sh digest")
		b.figures.judge(name, "throughput ÷ that of grep -c", bar{timesGrep}, got["kasoku"], got["grep -c"], "grep did not run")
	}
	return nil
}

// alp on a log, with a pattern for each route that varies, as its users give
// them, and without.
func (b *bench) alp(form string, l log) []tool {
	var args []string
	switch form {
	case "ltsv":
		args = []string{"ltsv"}
	case "json":
		args = []string{"json", "--reqtime-key", "request_time"}
	case "combined":
		args = []string{"regexp"}
	}
	// Without patterns every URI is a row, and there must be no limit on rows.
	args = append(args, "--file", l.path, "--format", "tsv", "--limit", "100000000")
	with := append(append([]string(nil), args...), "-m", patterns(endpoints()))
	return []tool{
		{name: "alp (1/10 of the log)", log: l, args: b.find("alp", args...), rounds: 3},
		{name: "alp with patterns (1/10 of the log)", log: l, args: b.find("alp", with...), rounds: 3, check: alpCount(l)},
	}
}

// alpCount checks that alp read the whole log: a tool that stops early is fast.
func alpCount(l log) func([]byte) error {
	return func(stdout []byte) error {
		sum := 0
		for line := range strings.Lines(string(stdout)) {
			first, _, _ := strings.Cut(line, "\t")
			if n, err := strconv.Atoi(first); err == nil {
				sum += n
			}
		}
		if sum != l.lines {
			return fmt.Errorf("alp counts %d requests of %d", sum, l.lines)
		}
		return nil
	}
}

// checkAccess: every line was read, and the routes are those that the log was
// made of. Each endpoint is asked for in a log of a thousand times as many
// lines as there are endpoints.
func (b *bench) checkAccess(l log) func([]byte) error {
	return func(stdout []byte) error {
		var a digest.Access
		if err := json.Unmarshal(stdout, &a); err != nil {
			return err
		}
		found, sum := map[string]bool{}, int64(0)
		for _, r := range a.Routes {
			found[r.Method+" "+r.Route] = true
			sum += r.Count
		}
		if a.Lines != int64(l.lines) || sum != int64(l.lines) || a.Bad != 0 {
			return fmt.Errorf("%d lines, %d requests, %d not understood; the log has %d", a.Lines, sum, a.Bad, l.lines)
		}
		all := endpoints()
		var missing, more []string
		for i := range all {
			name := all[i].method + " " + all[i].route()
			if !found[name] {
				missing = append(missing, name)
			}
			delete(found, name)
		}
		for name := range found {
			more = append(more, name)
		}
		if l.lines < 1000*len(all) {
			return nil // not every route is in it, nor enough values to learn from
		}
		if len(missing)+len(more) > 0 {
			return fmt.Errorf("routes are missing: %v; routes that are none: %v", cut(missing), cut(more))
		}
		return nil
	}
}

func cut(names []string) []string { return names[:min(len(names), 5)] }

// packedLogs is part packed.
func (b *bench) packedLogs(ctx context.Context) error {
	plain, err := b.accessLog(forms[0], b.lines)
	if err != nil {
		return err
	}
	for _, p := range []struct{ name, pack, unpack string }{{"gz", "gzip", "zcat"}, {"zst", "zstd", "zstdcat"}} {
		name := "packed access log, " + p.name
		packed := log{path: plain.path + "." + p.name, bytes: plain.bytes, lines: plain.lines}
		pack := b.find(p.pack, "-c", plain.path)
		if pack == nil {
			b.figures.missing(name, "throughput ÷ that of "+p.unpack+" | grep -c", bar{timesGrep}, p.pack+" is not installed")
			continue
		}
		if err := create(packed.path, func(w io.Writer) error { return b.pack(ctx, pack, w) }); err != nil {
			return err
		}
		if err := b.warm(&log{path: packed.path}); err != nil {
			return err
		}
		peer := p.unpack + " | grep -c"
		got, err := b.compareTools(ctx, name, []tool{
			{name: "kasoku", log: packed, args: []string{b.kasoku, "digest", "-q", "-o", "json", packed.path}, check: b.checkAccess(plain)},
			{name: peer, log: packed, args: shell(p.unpack+` "$2" | LC_ALL=C grep -c "$1"`, rareText["ltsv"], packed.path)},
		})
		if err != nil {
			return err
		}
		b.figures.judge(name, "throughput ÷ that of "+peer, bar{timesGrep}, got["kasoku"], got[peer], p.unpack+" did not run")
	}
	return nil
}

// pack writes what a packer prints.
func (b *bench) pack(ctx context.Context, args []string, w io.Writer) error {
	b.say("packing with %s", filepath.Base(args[0]))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, stderr.String())
	}
	return nil
}

// mostMemory and its growth from a quarter of the log to the whole: buffers
// and the collector's timing differ from run to run.
const (
	mostMemory = 300e6
	mostGrowth = 1.25
)

// memory is part memory: every form, plain and packed.
func (b *bench) memory(ctx context.Context) error {
	worst, growth := []float64{}, []float64{}
	rows := [][]string{{"resident memory at most, MB", "a quarter", "whole"}}
	for _, f := range forms {
		quarter, err := b.accessLog(f, b.lines/4)
		if err != nil {
			return err
		}
		whole, err := b.accessLog(f, b.lines)
		if err != nil {
			return err
		}
		var peaks [2]float64
		for round := range b.rounds {
			for i, l := range []log{quarter, whole} {
				s, err := b.run(ctx, "memory", round, tool{name: "kasoku", log: l, args: []string{b.kasoku, "digest", "-q", "-o", "json", l.path}})
				if err != nil {
					return err
				}
				peaks[i] = max(peaks[i], float64(s.Peak))
			}
		}
		rows = append(rows, []string{f.name, fmt.Sprintf("%.0f", peaks[0]/1e6), fmt.Sprintf("%.0f", peaks[1]/1e6)})
		worst = append(worst, peaks[1]/1e6)
		if peaks[0] > 0 {
			growth = append(growth, peaks[1]/peaks[0])
		}
	}
	fmt.Fprintln(b.stdout)
	printTable(b.stdout, rows)
	b.figures.most("memory", "resident at most, MB", mostMemory/1e6, worst)
	b.figures.most("memory", "whole log ÷ a quarter of it", mostGrowth, growth)
	return nil
}
