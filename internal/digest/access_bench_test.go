package digest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// benchRoutes are a hundred routes, most with numbers; %d takes one.
var benchRoutes = func() []string {
	var out []string
	for _, area := range []string{"users", "items", "orders", "cart", "reviews", "shops", "tags", "coupons", "messages", "feeds"} {
		for _, form := range []string{"/api/%s", "/api/%s/%%d", "/api/%s/%%d/edit", "/api/%s/%%d/comments/%%d", "/%s", "/%s/%%d", "/%s/%%d/image.png", "/%s/new", "/admin/%s", "/admin/%s/%%d"} {
			out = append(out, fmt.Sprintf(form, area))
		}
	}
	return out
}()

// writeBench writes a log of about size bytes with random routes.
func writeBench(w io.Writer, format string, size int) {
	out := bufio.NewWriterSize(w, 1<<20)
	defer out.Flush()
	r := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"
	for n := 0; n < size; {
		at = at.Add(time.Duration(r.IntN(3)) * time.Millisecond)
		route := benchRoutes[r.IntN(len(benchRoutes))]
		var target string
		switch verbs := countVerbs(route); verbs {
		case 0:
			target = route
		case 1:
			target = fmt.Sprintf(route, r.IntN(1_000_000))
		default:
			target = fmt.Sprintf(route, r.IntN(1_000_000), r.IntN(1000))
		}
		if r.IntN(4) == 0 {
			target += fmt.Sprintf("?page=%d&q=%x", r.IntN(100), r.Uint32())
		}
		method := []string{"GET", "GET", "GET", "POST"}[r.IntN(4)]
		status := []int{200, 200, 200, 302, 404}[r.IntN(5)]
		client := fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256))
		bytes, took := r.IntN(100_000), r.ExpFloat64()*0.05
		var k int
		switch format {
		case "ltsv":
			k, _ = fmt.Fprintf(out, "time:%s\thost:%s\tforwardedfor:-\treq:%s %s HTTP/1.1\tstatus:%d\tmethod:%s\turi:%s\tsize:%d\treferer:https://shop.example/\tua:%s\treqtime:%.3f\tcache:-\truntime:-\tapptime:%.3f\tvhost:shop.example\n",
				at.Format("02/Jan/2006:15:04:05 -0700"), client, method, target, status, method, target, bytes, agent, took, took*0.9)
		case "json":
			k, _ = fmt.Fprintf(out, `{"time":"%s","remote_addr":"%s","method":"%s","uri":"%s","status":%d,"body_bytes_sent":%d,"referer":"https://shop.example/","user_agent":"%s","request_time":%.3f,"upstream_response_time":"%.3f","host":"shop.example"}`+"\n",
				at.Format(time.RFC3339), client, method, target, status, bytes, agent, took, took*0.9)
		default:
			k, _ = fmt.Fprintf(out, "%s - - [%s] \"%s %s HTTP/1.1\" %d %d \"https://shop.example/\" \"%s\" %.3f\n",
				client, at.Format("02/Jan/2006:15:04:05 -0700"), method, target, status, bytes, agent, took)
		}
		n += k
	}
}

func countVerbs(s string) (n int) {
	for _, c := range s {
		if c == '%' {
			n++
		}
	}
	return n
}

// fileInput reads a plain file.
func fileInput(path string) Input {
	info, err := os.Stat(path)
	if err != nil {
		panic(err)
	}
	return Input{Name: filepath.Base(path), Size: info.Size(),
		Open: func() (io.ReadCloser, error) { return os.Open(path) },
		At: func() (io.ReaderAt, io.Closer, error) {
			f, err := os.Open(path)
			return f, f, err
		}}
}

func benchmarkAccess(b *testing.B, format string) {
	path := filepath.Join(b.TempDir(), "access.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	writeBench(f, format, 256<<20)
	f.Close()
	in := fileInput(path)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(in.Size)
			before := processorTime(b)
			for b.Loop() {
				a, err := AccessLogs(context.Background(), []Input{in}, AccessOptions{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				if len(a.Routes) != 200 || a.Bad > 0 || !a.Timed {
					b.Fatalf("%d routes, %d bad, timed %v", len(a.Routes), a.Bad, a.Timed)
				}
			}
			// Wall time depends on what else runs; this hardly does.
			b.ReportMetric(float64(in.Size)*float64(b.N)/1e6/(processorTime(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkAccessLTSV(b *testing.B)     { benchmarkAccess(b, "ltsv") }
func BenchmarkAccessJSON(b *testing.B)     { benchmarkAccess(b, "json") }
func BenchmarkAccessCombined(b *testing.B) { benchmarkAccess(b, "combined") }
