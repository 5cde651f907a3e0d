package main

import (
	"fmt"
	"sync"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/ui"
)

// progressAfter: a log that is read sooner needs no line.
const progressAfter = 500 * time.Millisecond

// digestProgress draws how much was read, on standard error and only if that
// is a terminal: the result may go through a pipe.
type digestProgress struct {
	mu     sync.Mutex
	ui     *ui.UI // nil: nothing is drawn
	began  time.Time
	last   time.Time
	before int64 // of the logs that are done
	total  int64 // 0: not known
	now    func() time.Time
}

func newDigestProgress(a *App) *digestProgress {
	p := &digestProgress{began: time.Now(), now: time.Now}
	if ui.Columns(a.Err) > 0 && !a.cli.Quiet {
		p.ui = ui.New(a.Err, a.Err, ui.Options{TTY: true, NoColor: a.cli.NoColor})
	}
	return p
}

// expect sums the sizes up; what is packed or a stream has none that counts.
func (p *digestProgress) expect(inputs [][]digest.Input) {
	for _, in := range inputs {
		for _, i := range in {
			if i.At == nil {
				p.total = 0
				return
			}
			p.total += i.Size
		}
	}
}

// next: a set of logs is done.
func (p *digestProgress) next(in []digest.Input) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range in {
		p.before += i.Size
	}
}

// show is called with the unpacked bytes of the set so far.
func (p *digestProgress) show(done int64) {
	if p.ui == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last = now
	p.ui.Progress(p.text(done, now.Sub(p.began)))
}

func (p *digestProgress) text(done int64, took time.Duration) string {
	if p.total > 0 {
		done += p.before
		return fmt.Sprintf("read %s of %s (%s)", ui.Bytes(done), ui.Bytes(p.total), ui.Share(min(1, float64(done)/float64(p.total))))
	}
	return fmt.Sprintf("read %s in %s", ui.Bytes(done), ui.Duration(took))
}

func (p *digestProgress) clear() {
	if p.ui != nil {
		p.ui.Clear()
	}
}
