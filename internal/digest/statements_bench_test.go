package digest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/digest/slowgen"
)

// slowLogOf is a slow log of n entries.
func slowLogOf(t testing.TB, f slowgen.Form, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := slowgen.Write(&b, f, n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func inputOf(name string, data []byte) Input {
	return Input{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkStatementLogs(b *testing.B) {
	for _, f := range slowgen.Forms {
		data := slowLogOf(b, f, 200_000)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", f, workers), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				began := cpuTime()
				for b.Loop() {
					if _, err := StatementLogs(context.Background(), []Input{inputOf("slow.log", data)}, StatementOptions{Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(data))*float64(b.N)/1e6/(cpuTime()-began).Seconds(), "MB/CPU-s")
			})
		}
	}
}
