package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/record"
	"kasoku/internal/ui"
)

// DraftFlags are those of every command that makes a scenario.
type DraftFlags struct {
	Out   string `short:"o" default:"." help:"Folder for scenario.yaml and its pools." placeholder:"DIR"`
	Force bool   `help:"Overwrite files that exist."`
	Name  string `help:"The scenario's name (default: that of the file)." placeholder:"NAME"`
}

// ScenarioFromLogCmd makes a scenario of an access log.
type ScenarioFromLogCmd struct {
	DraftFlags  `embed:""`
	Logs        []string      `arg:"" help:"Access logs, oldest first; .gz too; - is standard input."`
	Format      string        `help:"nginx's log_format or Apache's LogFormat text, or combined, common, ltsv, json (default: recognised)." placeholder:"TEXT"`
	Zone        string        `default:"Local" help:"Time zone of times that have none." placeholder:"ZONE"`
	Host        string        `help:"Only this virtual host (default: the most frequent)." placeholder:"HOST"`
	Route       []string      `help:"A route that is known, for example /items/:id or /files/*; may be repeated." sep:"none" placeholder:"PATTERN"`
	Sessions    int           `default:"20" help:"How many different sessions at most."`
	Gap         time.Duration `default:"30m" help:"A longer pause begins a new session."`
	Think       bool          `help:"With the recorded pauses."`
	Writes      bool          `help:"Take POST, PUT, PATCH and DELETE too, without their bodies."`
	KeepSecrets bool          `help:"Do not mask parameters named like a secret."`
	Replay      bool          `help:"Repeat the log with its own timing instead of its mix."`
	Speed       float64       `default:"1" help:"Replay so many times as fast." placeholder:"N"`
}

// Help is shown below the flags.
func (ScenarioFromLogCmd) Help() string {
	return "Sessions are cut by client and pause; paths that vary become pools; static files that follow a page become its assets. " +
		"Prints what was taken, what was left out and why. A log has no bodies and no cookies.\n\nExamples:\n" +
		"  kasoku scenario from-log /var/log/nginx/access.log -o load\n" +
		"  kasoku scenario from-log access.log --replay --speed 2 -o replay\n" +
		"  kasoku scenario from-log app.log --format '$remote_addr [$time_local] \"$request\" $status'"
}

// Run implements the command.
func (c *ScenarioFromLogCmd) Run(_ context.Context, a *App) error {
	o := record.LogOptions{Name: c.name(c.Logs[0]), Source: c.Logs[0], Sessions: c.Sessions, Think: c.Think, Gap: c.Gap, Host: c.Host, Routes: c.Route,
		Writes: c.Writes, KeepSecrets: c.KeepSecrets, Replay: c.Replay, Speed: c.Speed}
	if len(c.Logs) > 1 {
		o.Source = fmt.Sprintf("%s and %d more", o.Source, len(c.Logs)-1)
	}
	switch {
	case c.Sessions < 1 || c.Gap <= 0:
		return ui.Coded(ui.Usage, errors.New("--sessions and --gap must be above 0"), "kasoku scenario from-log --help")
	case c.Speed <= 0:
		return ui.Coded(ui.Usage, errors.New("--speed must be above 0"), "--speed 2 replays twice as fast")
	case c.Speed != 1 && !c.Replay:
		return ui.Coded(ui.Usage, errors.New("--speed is for --replay"), "add --replay")
	}
	var err error
	if o.Zone, err = time.LoadLocation(c.Zone); err != nil {
		return ui.Coded(ui.Usage, fmt.Errorf("--zone: %w", err), "write for example UTC or Asia/Tokyo")
	}
	if c.Format != "" {
		if o.Format, err = accesslog.ParseFormat(c.Format); err != nil {
			return ui.Coded(ui.Usage, err, "copy the text from the server's configuration, in single quotes")
		}
	}
	in, done, err := openLogs(c.Logs)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "name readable access logs")
	}
	defer done()
	o.Newest = newestOf(c.Logs)
	d, err := record.FromLog(in, o)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "kasoku scenario from-log --help tells what can be chosen")
	}
	return a.writeDraft(d, c.DraftFlags)
}

// name of the scenario: the file's, without extensions.
func (f *DraftFlags) name(file string) string {
	if f.Name != "" {
		return f.Name
	}
	base, _, _ := strings.Cut(filepath.Base(file), ".")
	if base == "" || base == "-" {
		return "recorded"
	}
	return base
}

// newestOf is when the last of the files was changed; now, if one is a stream.
func newestOf(names []string) time.Time {
	newest := time.Time{}
	for _, name := range names {
		st, err := os.Stat(name)
		if err != nil || !st.Mode().IsRegular() {
			return time.Now()
		}
		if st.ModTime().After(newest) {
			newest = st.ModTime()
		}
	}
	return newest
}

// openLogs reads several files as one. Compressed ones are unpacked.
func openLogs(names []string) (in io.Reader, done func(), err error) {
	var parts []io.Reader
	var files []io.Closer
	done = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, name := range names {
		f := os.Stdin
		if name != "-" {
			if f, err = os.Open(name); err != nil {
				done()
				return nil, nil, err
			}
			files = append(files, f)
		}
		r := bufio.NewReaderSize(f, 64<<10)
		var part io.Reader = r
		if head, _ := r.Peek(2); string(head) == "\x1f\x8b" {
			if part, err = gzip.NewReader(r); err != nil {
				done()
				return nil, nil, fmt.Errorf("unpack %s: %w", name, err)
			}
		}
		parts = append(parts, part, strings.NewReader("\n")) // a last line without an end
	}
	return io.MultiReader(parts...), done, nil
}

// writeDraft puts a scenario into its folder and says what it holds.
func (a *App) writeDraft(d *record.Draft, f DraftFlags) error {
	files, err := d.Write(f.Out, f.Force)
	switch {
	case errors.Is(err, record.ErrExists):
		return ui.Coded(ui.BadInput, err, "--force overwrites it; -o DIR writes elsewhere")
	case errors.Is(err, record.ErrUnsound):
		return ui.Coded(ui.BadInput, err, "remove from the source what the message names, or take less of it; this is a fault of the command: report it with the source")
	case err != nil:
		return ui.Coded(ui.Failure, err, "check that the folder can be written and that the disk is not full")
	}
	return a.print(writtenDraft{files, d}, func(w io.Writer) error { return printDraft(w, files, d) })
}

// writtenDraft is what the commands that make scenarios print with --json.
type writtenDraft struct {
	Files []string `json:"files"` // that were written
	*record.Draft
}

// shownRoutes of a draft.
const shownRoutes = 12

func printDraft(w io.Writer, files []string, d *record.Draft) error {
	var err error
	print := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format, args...)
		}
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			print("\n%s\n", title)
		}
		for _, l := range lines {
			print("  - %s\n", l)
		}
	}
	print("%s\n", files[0])
	if len(files) > 1 {
		print("  and %d data files beside it\n", len(files)-1)
	}
	list("Taken", d.Taken)
	if len(d.Routes) > 0 {
		print("\n")
		var rows [][]string
		for _, r := range d.Routes[:min(len(d.Routes), shownRoutes)] {
			rows = append(rows, []string{r.Route, fmt.Sprint(r.Recorded), fmt.Sprintf("%.1f %%", 100*float64(r.Recorded)/float64(max(d.Requests, 1))), fmt.Sprintf("%.1f %%", 100*r.Drafted)})
		}
		if err == nil {
			err = ui.Table(w, []string{"route", "recorded", "share", "in the scenario"}, rows)
		}
		if more := len(d.Routes) - shownRoutes; more > 0 {
			print("  and %d more routes\n", more)
		}
	}
	list("Left out", d.LeftOut)
	list("Note", d.Notes)
	print("\nNext: kasoku scenario check %s\n", files[0])
	return err
}
