package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

// Verify compares the hosts with what the journal says is in effect: every
// object of a transaction that is kept or applied, of whatever kind, that can be
// looked at. Commands and restarts cannot be seen and are not judged. What could
// not be looked at is in the error, and the rest is judged all the same.
func (x *Executor) Verify(ctx context.Context) ([]Drift, error) {
	return x.verify(ctx, func(int64) bool { return true })
}

// VerifyTx is Verify of the objects that the transactions with these IDs were the
// last to change.
func (x *Executor) VerifyTx(ctx context.Context, ids ...int64) ([]Drift, error) {
	return x.verify(ctx, func(id int64) bool { return slices.Contains(ids, id) })
}

func (x *Executor) verify(ctx context.Context, of func(id int64) bool) ([]Drift, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	latest := map[string]pending{}
	var order []string
	for _, t := range x.journal.txs {
		if t.State != StateKept && t.State != StateApplied {
			continue
		}
		for i := range t.Changes {
			if x.elsewhere(&t.Changes[i]) {
				continue
			}
			for _, o := range []string{t.Changes[i].object(), t.Changes[i].workersObject()} {
				if o == "" {
					continue
				}
				if _, seen := latest[o]; !seen {
					order = append(order, o)
				}
				latest[o] = pending{t, i}
			}
		}
	}
	var out []Drift
	var errs []error
	for _, o := range order {
		if !of(latest[o].t.ID) {
			continue
		}
		look := x.drift
		if c := &latest[o].t.Changes[latest[o].i]; o == c.workersObject() {
			if over, known := latest[c.object()]; known && over.t != latest[o].t {
				continue // what sets the number is another transaction's since
			}
			look = x.workersDrift
		}
		d, err := look(ctx, latest[o])
		if err != nil {
			errs = append(errs, err)
		} else if d != nil {
			out = append(out, *d)
		}
	}
	if len(errs) > 0 {
		return out, fmt.Errorf("verify: %w", errors.Join(errs...))
	}
	return out, nil
}

// drift looks at one change's object; nil if it is as the change left it.
func (x *Executor) drift(ctx context.Context, p pending) (*Drift, error) {
	c := &p.t.Changes[p.i]
	if err := x.reach(c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Title(), err)
	}
	a, err := x.act(p.t, p.i)
	if err != nil {
		return nil, err
	}
	s, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	if s.blind || s.after && s.attrs == "" {
		return nil, nil
	}
	e := x.explained(ctx, a, s, c.After)
	d := &Drift{Tx: p.t.ID, Change: p.i, Object: e.Object, Want: short(e.After), Got: short(s.got) + comma(s.attrs),
		Host: x.hostOf(c), Kind: c.Kind, Saved: e.Theirs, Diff: e.Diff}
	if c.Path != "" {
		since := p.t.Begun
		d.Trace = trace(ctx, x.hosts[d.Host], c.Path, since)
	}
	return d, nil
}

// untouched makes sure that nobody else changed what t changed.
func (x *Executor) untouched(ctx context.Context, t *txn) error {
	for i := range t.Changes {
		if t.superseded(i, t.all()) || t.Changes[i].object() == "" || x.builtOn(t, t.Changes[i].object()) {
			continue
		}
		a, err := x.act(t, i)
		if err != nil {
			return err
		}
		x.step(t, "keep.look%d", i)
		s, err := a.look(ctx)
		if err != nil {
			return err
		}
		if !s.blind && (!s.after || s.attrs != "") {
			return fmt.Errorf("%w: %w", ErrChanged, x.explained(ctx, a, s, t.Changes[i].After))
		}
	}
	return nil
}

// builtOn reports whether a transaction that t prepared, and that is in effect,
// changed the object again: it began from what t made, and judges what is there.
func (x *Executor) builtOn(t *txn, object string) bool {
	for _, o := range x.journal.txs {
		if !t.prepares(o) || !o.Pending() && o.State != StateKept {
			continue
		}
		for i := range o.Changes {
			if p := o.progress[i]; o.Changes[i].object() == object && p.applied && !p.restored {
				return true
			}
		}
	}
	return false
}

// explained is a conflict with what is there now saved and compared with what
// Kasoku expected. That nothing could be saved does not make it less of one.
func (x *Executor) explained(ctx context.Context, a act, s sight, expected *FileState) *ConflictError {
	e := a.conflict(s)
	f, ok := a.(*fileAct)
	if !ok || expected == nil || s.got == "" || s.got == string(expected.Hash) {
		return e
	}
	theirs, err := f.h.ReadFile(ctx, f.c.Path)
	if err != nil || x.journal.saveBlob(ctx, theirs) != nil {
		return e
	}
	e.Theirs = x.journal.blobPath(host.HashOf(theirs))
	ours, err := x.journal.bytes(expected)
	if err != nil {
		return e
	}
	e.Diff = clip(Redact(fileDiff(Change{Kind: KindFile, Path: f.c.Path,
		Before: &FileState{Hash: expected.Hash, Content: ours}, After: &FileState{Hash: host.HashOf(theirs), Content: theirs}})))
	return e
}

// clip keeps as much of a diff as a person reads in a terminal.
func clip(diff string) string {
	const most = 40
	lines := splitLines(diff)
	if len(lines) <= most {
		return diff
	}
	return strings.Join(lines[:most], "") + fmt.Sprintf("… %d more lines\n", len(lines)-most)
}

// theirs tells where the found bytes are and how they differ.
func (e *ConflictError) theirs() string {
	if e.Theirs == "" {
		return ""
	}
	return fmt.Sprintf(" (saved in %s); it differs from what was there before by:\n%s", e.Theirs, e.Diff)
}

// Trace is what a file tells about who changed it.
type Trace struct {
	// ModTime is what the last writer left, ChangeTime when content or
	// attributes last changed, which cannot be set (stat(2)). Zero: not there.
	ModTime    time.Time `json:"mtime,omitzero"`
	ChangeTime time.Time `json:"ctime,omitzero"`
	UID        int       `json:"uid"` // owner of the file, who need not be who wrote it
	Owner      string    `json:"owner,omitempty"`
	// OpenBy are processes that have it open now, "1234 (vim)", five at most.
	OpenBy []string `json:"open_by,omitempty"`
	// Package that the file belongs to, and what dpkg's log says of it since
	// the transaction.
	Package    string   `json:"package,omitempty"`
	PackageLog []string `json:"package_log,omitempty"`
	// Unknown is why there is no more to tell.
	Unknown string `json:"unknown,omitempty"`
}

func (t *Trace) String() string {
	var s strings.Builder
	if t.Unknown != "" {
		fmt.Fprintf(&s, "\n  by whom is not known: %s", t.Unknown)
	}
	if !t.ChangeTime.IsZero() {
		fmt.Fprintf(&s, "\n  last changed at %s (modification time %s); the file's owner is %s (%d)",
			t.ChangeTime.Format(time.RFC3339), t.ModTime.Format(time.RFC3339), t.Owner, t.UID)
	}
	if len(t.OpenBy) > 0 {
		fmt.Fprintf(&s, "\n  open in process %s", strings.Join(t.OpenBy, ", "))
	}
	if t.Package != "" {
		fmt.Fprintf(&s, "\n  belongs to package %s", t.Package)
	}
	for _, l := range t.PackageLog {
		fmt.Fprintf(&s, "\n  dpkg.log: %s", l)
	}
	return s.String()
}

// traceScript asks about file $1 (as a pattern of find: $2) since $3 s.
const traceScript = `stat -L -c 'stat %Y %Z %u %U' -- "$1" 2>/dev/null
real=$(readlink -f -- "$1")
find /proc/[0-9]*/fd -maxdepth 1 -lname "$2" 2>/dev/null | cut -d/ -f3 | sort -nu | head -5 | while read -r p; do
  echo "open $p ($(cat /proc/$p/comm 2>/dev/null))"
done
command -v dpkg-query >/dev/null || exit 0
p=$(dpkg-query -S "$1" 2>/dev/null || dpkg-query -S "$real" 2>/dev/null) || exit 0
p=${p%%: *}; p=${p%%,*}; echo "package $p"
since=$(date -d "@$3" '+%Y-%m-%d %H:%M:%S')
cat /var/log/dpkg.log.1 /var/log/dpkg.log 2>/dev/null | awk -v since="$since" -v p="${p%%:*}" '
  substr($0, 1, 19) >= since && ($3 == "upgrade" || $3 == "install" || $3 == "remove" || $3 == "configure") { split($4, a, ":"); if (a[1] == p) print "log " $0 }' | tail -3
exit 0`

// trace asks the host what it knows about a file, once.
func trace(ctx context.Context, h host.Host, path string, since time.Time) *Trace {
	real, _, err := resolve(ctx, h, path)
	if err != nil {
		real = path
	}
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(real)
	r, err := h.Run(ctx, host.Command{Argv: []string{"sh", "-c", traceScript, "kasoku", path, pattern, fmt.Sprint(since.Unix())}})
	if err != nil {
		return &Trace{Unknown: err.Error()}
	}
	return parseTrace(string(r.Stdout))
}

func parseTrace(out string) *Trace {
	t := &Trace{UID: -1, Unknown: "it is not there"}
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "stat":
			f := strings.Fields(rest)
			if len(f) != 4 {
				continue
			}
			mtime, err1 := strconv.ParseInt(f[0], 10, 64)
			ctime, err2 := strconv.ParseInt(f[1], 10, 64)
			uid, err3 := strconv.Atoi(f[2])
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Unknown = err.Error()
				continue
			}
			t.ModTime, t.ChangeTime, t.UID, t.Owner, t.Unknown = time.Unix(mtime, 0).UTC(), time.Unix(ctime, 0).UTC(), uid, f[3], ""
		case "open":
			t.OpenBy = append(t.OpenBy, rest)
		case "package":
			t.Package = rest
		case "log":
			t.PackageLog = append(t.PackageLog, rest)
		}
	}
	return t
}
