package evidence

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// A memcached that crawls by itself refuses its list for a moment: it is asked again, on the
// same connection, and only one that goes on to refuse is not judged.
func TestExpiryIsSampledAfterACrawl(t *testing.T) {
	for _, c := range []struct {
		why     string
		refused int
		want    string // the complaint
	}{
		{"at once", 0, ""},
		{"after two refusals", 2, ""},
		{"never", crawlTries, "refused (BUSY)"},
	} {
		t.Run(c.why, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			conns := make(chan int, 1)
			go func() {
				n, asked := 0, 0
				for ; ; n++ {
					conn, err := l.Accept()
					if err != nil {
						conns <- n
						return
					}
					for r := bufio.NewReader(conn); ; {
						if _, err := r.ReadString('\n'); err != nil {
							break
						}
						answer := "key=a exp=-1 la=1 cas=1 fetch=no cls=1 size=70\r\nkey=b exp=9 la=1 cas=1 fetch=no cls=1 size=70\r\nEND\r\n"
						if asked++; asked <= c.refused {
							answer = "BUSY currently processing crawler request\r\n"
						}
						if _, err := io.WriteString(conn, answer); err != nil {
							break
						}
					}
					conn.Close()
				}
			}()
			cache := &cacheConn{h: host.NewLocal(), svc: &stack.Service{Name: "cache", Kind: stack.Memcached, Listen: []string{l.Addr().String()}}}
			values := map[string]string{"curr_items": "2"}
			said := strings.Join(sampleExpiry(context.Background(), cache, values), "\n")
			cache.close()
			l.Close()
			if c.want == "" && (said != "" || values["sample_items"] != "2" || values["sample_items_without_expiry"] != "1") || c.want != "" && !strings.Contains(said, c.want) {
				t.Errorf("said %q, %v", said, values)
			}
			if n := <-conns; n != 1 {
				t.Errorf("%d connections were made, want 1", n)
			}
		})
	}
}
