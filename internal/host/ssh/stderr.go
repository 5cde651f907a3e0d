package ssh

import (
	"bytes"
	"sync"
)

// tail keeps the end of what ssh writes to its standard error.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// tailBytes hold the last lines, and ssh's whole warning of a changed key.
const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
		if i := bytes.IndexByte(t.b, '\n'); i >= 0 {
			t.b = append(t.b[:0], t.b[i+1:]...)
		}
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ReplaceAll(t.b, []byte("\r"), nil))
}
