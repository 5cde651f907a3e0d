package evidence

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzKernelAndTools feeds what the kernel and small tools print.
func FuzzKernelAndTools(f *testing.F) {
	for _, name := range []string{"proc_stat", "proc_meminfo", "pid_status", "pid_limits", "pid_smaps_rollup"} {
		data := fixture(f, name)
		f.Add(data[:min(len(data), 800)])
	}
	for _, text := range []string{
		"12.34 20.00\n", "1\t2 3", "32768\t60999\n", "max 100000\n", "abcd 0 3 0\n0001 0000 0002 0000\n", "Linux version 6.1.0-18-amd64 (debian) #1\n",
		"7f0-7f1 r-xp 00000000 08:01 12 /usr/lib/x86_64-linux-gnu/libc.so.6\n7f1-7f2 rw-p 0 00:00 0 [heap]\n", "nginx-core: /usr/sbin/nginx\n", "nginx:\n  Candidate: 1.22.1-9\n",
		"22:4(mem)\n0::/system.slice/a.service\n", "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "PATH=/bin\x00PORT=3000\x00", "Active connections: 2 \nserver accepts handled requests\n 3 3 5 \nReading: 0 Writing: 1 Waiting: 1 \n",
		"LISTEN 0 511 *:80 *:*\n", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n", "root:x:0:\nwww-data:x:33:\n",
		"[ERROR] mysqld: unknown variable 'query_cache_size=1M'\n", "STAT pid 1\r\nEND\r\n", "key=a exp=-1 la=1 cls=1 size=60\r\nEND\r\n", `{"opcache_enabled":true,"memory_usage":{"used_memory":1}}`,
		`{"counters":{"MAIN.cache_hit":{"flag":"c","value":1}}}`, `{"__CURSOR":"s=1;i=2","MESSAGE":[65,66],"PRIORITY":"3","_TRANSPORT":"stdout"}` + "\n", "2025-11-21T23:15:45.123456789+0900", "Status: 200\r\n\r\n{}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := string(data)
		parseMemory(data)
		parseVMStat(data)
		parseFileNr(data)
		parseSwitches(data)
		parseNulls(data)
		parseAppEnv(data)
		parseOPcache(data)
		parseForeignOptions(data)
		parseSS(data)
		parseStubStatus(data)
		parseNetDev(data)
		parseNameList(data, 33)
		parseCgroupMounts(data)
		parseCgroups(data)
		parseCPUMax(data)
		parseLimit(data)
		parseVarnishstat(data)
		parseCPUs(data)
		parseUptime(data)
		parseRedisInfo(s)
		parseClock(s)
		parseKernel(data)
		parseSoftnet(data)
		parseMaps(data)
		parseOwners(data)
		parseCandidates(data)
		parseTCP(data, func(tcpSocket) {})
		parsePortRange(data)
		parseMapped(data, "libc")
		parseApacheBefore(bytes.NewReader(data), "s")
		parseMemcachedStats(bufio.NewReader(bytes.NewReader(data)), "", map[string]string{})
		parseMetadump(bufio.NewReader(bytes.NewReader(data)), 100)
		if read, written := parseProcessIO(data); written < 0 {
			t.Errorf("%d bytes read, %d written", read, written)
		}
		var spent groupTimes
		if spent.parse(data); spent.user < 0 || spent.sys < 0 {
			t.Errorf("%+v", spent)
		}
		if kinds, more, _ := ParseFPMSlowLog(bytes.NewReader(data), "s"); len(kinds) > maxLogKinds || more < 0 {
			t.Errorf("%d kinds, %d more", len(kinds), more)
		}
		kinds, more, _ := parseJournal(data, "s=1;i=2", "s")
		if len(kinds) > maxLogKinds || more < 0 {
			t.Errorf("%d kinds, %d more", len(kinds), more)
		}
	})
}

// TestEveryParserIsFuzzed: a new parser of what comes from outside needs a
// place in a fuzzer.
func TestEveryParserIsFuzzed(t *testing.T) {
	funcs, reached := map[string]*ast.FuncDecl{}, map[string]bool{}
	var fuzzers []*ast.FuncDecl
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok || fn.Recv != nil:
			case strings.HasPrefix(fn.Name.Name, "Fuzz"):
				fuzzers = append(fuzzers, fn)
			case !strings.HasSuffix(name, "_test.go"):
				funcs[fn.Name.Name] = fn
			}
		}
	}
	var reach func(fn *ast.FuncDecl)
	reach = func(fn *ast.FuncDecl) {
		ast.Inspect(fn, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && funcs[id.Name] != nil && !reached[id.Name] {
				reached[id.Name] = true
				reach(funcs[id.Name])
			}
			return true
		})
	}
	for _, fn := range fuzzers {
		reach(fn)
	}
	parsers := 0
	for name, fn := range funcs {
		if !strings.HasPrefix(strings.ToLower(name), "parse") || fn.Type.Params.NumFields() == 0 {
			continue
		}
		parsers++
		if !reached[name] {
			t.Errorf("no fuzzer calls %s", name)
		}
	}
	if parsers < 50 {
		t.Errorf("only %d parsers were found", parsers)
	}
}
