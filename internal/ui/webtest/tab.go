// Package webtest looks at pages as people do: in a real headless Chromium,
// light and dark, on a wide screen and on a phone, with axe's rules of
// accessibility.
package webtest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// -shots DIR keeps screenshots of every view, to look at them:
// go test ./internal/web -run Browser -args -shots DIR
var shots = flag.String("shots", "", "folder for screenshots")

//go:embed axe/axe.min.js.gz
var axePacked []byte

var axe = sync.OnceValues(func() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(axePacked))
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(z)
	return string(b), err
})

// Tab is one page of a headless Chromium with all that its console said.
type Tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// mostOpen is how long a Tab may be used; a browser that hangs ends the test.
const mostOpen = 12 * time.Minute

// New opens a tab until the test ends; without Chromium the test is skipped.
func New(t *testing.T) *Tab {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Chromium here: apt-get install chromium, or set CHROMIUM")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.Flag("headless", "new"),
		chromedp.NoSandbox, // root has none; only pages of this test are opened
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, mostOpen)
	t.Cleanup(stop)
	b := &Tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError || ev.Entry.Level == log.LevelWarning {
				b.note(fmt.Sprintf("%s %s (%s)", ev.Entry.Level, ev.Entry.Text, ev.Entry.URL))
			}
		case *runtime.EventExceptionThrown:
			b.note(ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning {
				b.note(fmt.Sprint("console: ", ev.Type))
			}
		}
	})
	b.Do(log.Enable(), emulation.SetFocusEmulationEnabled(true)) // a headless window has no focus of its own
	return b
}

func (b *Tab) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, s)
}

// Said returns what the console said since the last call.
func (b *Tab) Said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := strings.Join(b.problems, "\n")
	b.problems = nil
	return s
}

// Do runs actions; one that fails ends the test.
func (b *Tab) Do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.Said())
	}
}

// Open goes to an address.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Run a script for what it does.
func (b *Tab) Run(script string) {
	b.t.Helper()
	b.Do(chromedp.Evaluate(script+";0", nil))
}

// Eval returns the value of an expression, of a promise what it comes to.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	var v T
	b.Do(chromedp.Evaluate(expression, &v, awaited))
	return v
}

// Until an expression is true, at most 20 seconds.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	b.UntilWithin(20*time.Second, expression)
}

// UntilWithin is Until with another limit.
func (b *Tab) UntilWithin(limit time.Duration, expression string) {
	b.t.Helper()
	if err := b.holds(expression, limit); err != nil {
		b.t.Fatalf("not true: %s (%v)\n%s", expression, err, b.Said())
	}
}

// holds tries errors again: the page may just leave. The page itself asks again and
// again, two seconds long: a question from here takes milliseconds of CPU of four processes, and one
// of the page itself some time of the one that draws it, so that what comes late is asked less often.
func (b *Tab) holds(expression string, within time.Duration) error {
	ask := fmt.Sprintf(`new Promise((done) => { let pause = 30; const end = performance.now() + 2000, ask = () => {
		try { if (%s) return done("true"); } catch (e) { if (performance.now() > end) return done("" + e); }
		if (performance.now() > end) done("false"); else setTimeout(ask, pause = Math.min(1.5 * pause, 250));
	}; ask(); })`, expression)
	err := fmt.Errorf("it was not asked")
	for end := time.Now().Add(within); time.Now().Before(end) && b.ctx.Err() == nil; {
		var is string
		err = chromedp.Run(b.ctx, chromedp.Evaluate(ask, &is, awaited))
		if err == nil && is == "true" {
			return nil
		}
		if err != nil {
			time.Sleep(30 * time.Millisecond)
		} else {
			err = fmt.Errorf("it stayed %s for %s", is, within)
		}
	}
	return err
}

// awaited has what a promise comes to told.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// Key presses and releases a key as a keyboard does: what it would type is
// dropped if the page deals with the key itself, which chromedp.KeyEvent is not.
// Key and code are those of UI Events (W3C), number the virtual key's.
func (b *Tab) Key(key, code, text string, number int64) {
	b.t.Helper()
	b.Do(input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithCode(code).WithText(text).WithWindowsVirtualKeyCode(number),
		input.DispatchKeyEvent(input.KeyUp).WithKey(key).WithCode(code).WithWindowsVirtualKeyCode(number))
}

// Enter presses that key.
func (b *Tab) Enter() {
	b.t.Helper()
	b.Key("Enter", "Enter", "\r", 13)
}

// Point moves the pointer to the middle of what a selector finds, as a mouse does.
func (b *Tab) Point(selector string) {
	b.t.Helper()
	at := Eval[[]float64](b, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector))
	b.Do(input.DispatchMouseEvent(input.MouseMoved, 1, 1), input.DispatchMouseEvent(input.MouseMoved, at[0], at[1]))
}

// Next moves the focus on by the Tab key.
func (b *Tab) Next() {
	b.t.Helper()
	b.Key("Tab", "Tab", "", 9)
}

// Shot keeps a picture of the whole page, if -shots is given.
func (b *Tab) Shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		b.t.Fatal(err)
	}
	b.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		png, err := cdpage.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644)
	}))
}

// Keep writes a file beside the screenshots, if there are any.
func (b *Tab) Keep(name string, data []byte) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// PDF is the page as it is printed.
func (b *Tab) PDF() []byte {
	b.t.Helper()
	var out []byte
	b.Do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		out, _, err = cdpage.PrintToPDF().WithPreferCSSPageSize(true).Do(ctx)
		return err
	}))
	return out
}

// Look is one way in which people see pages.
type Look struct {
	Name          string
	Width, Height int64
	Dark, Phone   bool
}

// Looks are a wide screen in light and in dark, and a phone.
var Looks = []Look{{"light", 1200, 900, false, false}, {"dark", 1200, 900, true, false}, {"phone", 390, 800, false, true}}

// As shows the page so from now on.
func (b *Tab) As(l Look) {
	b.t.Helper()
	scheme := "light"
	if l.Dark {
		scheme = "dark"
	}
	b.Do(emulation.SetDeviceMetricsOverride(l.Width, l.Height, 1, l.Phone),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// Check looks at the page in all Looks, keeps a picture of each, and reports
// what is wider than the screen and what axe finds.
func (b *Tab) Check(name string) {
	b.t.Helper()
	for _, l := range Looks {
		b.CheckAs(l, name)
	}
}

// CheckAs is Check in one look, which the page keeps.
func (b *Tab) CheckAs(l Look, name string) {
	b.t.Helper()
	b.As(l)
	name += "-" + l.Name
	b.Shot(name)
	if over := Eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.t.Errorf("%s: the page is %d pixels wider than the screen", name, over)
	}
	for _, x := range b.Violations(l) {
		b.t.Errorf("%s: axe: %s", name, x)
	}
}

// Violations of axe's rules for WCAG 2.1 A and AA, and its best practices, in a look
// that the page has now. Dark and light have one layout, so in the dark only the rules
// about colours are asked.
func (b *Tab) Violations(l Look) []string {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		b.t.Fatal(err)
	}
	if !Eval[bool](b, "!!window.axe") {
		b.Do(chromedp.Evaluate(source+";0", nil))
	}
	// What passes is not told, which takes most of axe's time.
	options := `{resultTypes: ["violations"], selectors: false}`
	if l.Dark {
		options = `{resultTypes: ["violations"], selectors: false, runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}`
	}
	out := Eval[string](b, `axe.run(document, `+options+`).then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " | " + (n.any[0] || n.all[0] || n.none[0] || {}).message).join(" ;; "))))`)
	var v []string
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		b.t.Fatal(err)
	}
	return v
}
