// Package fingerprint tells what of a host differs between two times: files with
// their bytes, modes, owners, times and links, packages, users, units, kernel
// settings, the database's variables, its users and its tables with the order of
// their keys. It is how `kasoku undo --all` is checked by somebody else than Kasoku.
//
// Collect runs one script on the host, Parse reads what it prints, Diff compares.
package fingerprint

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

//go:embed collect.sh
var script string

// Object is one thing of a host, such as the file /etc/passwd.
type Object struct {
	Section string // file, bytes, package, user, unit, sysctl, variable, table, …
	Name    string
}

// MarshalText makes it a key of a JSON object.
func (o Object) MarshalText() ([]byte, error) { return []byte(o.Section + "\t" + o.Name), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Object) UnmarshalText(text []byte) error {
	var ok bool
	if o.Section, o.Name, ok = strings.Cut(string(text), "\t"); !ok {
		return fmt.Errorf("%q is no section and name with a tab between", text)
	}
	return nil
}

// Print is what each object of a host is, as one text.
type Print map[Object]string

// Difference is an object that is not as it was. Before or After is "" where it
// was not there.
type Difference struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
}

func (d Difference) String() string {
	object := d.Section + " " + d.Name
	switch {
	case d.Before == "":
		return fmt.Sprintf("%s: new (%s)", object, short(d.After))
	case d.After == "":
		return fmt.Sprintf("%s: gone (%s)", object, short(d.Before))
	}
	return fmt.Sprintf("%s: was %s, is %s", object, short(d.Before), short(d.After))
}

// shown is how much of an object's text a message has.
const shown = 200

func short(text string) string {
	if len(text) <= shown {
		return text
	}
	return text[:shown] + "…"
}

// Collect runs the script by the command, such as ssh with a host and "bash -s".
func Collect(ctx context.Context, command ...string) (Print, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(script)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("take the fingerprint of a host: %w: %s", err, strings.TrimSpace(errors.String()))
	}
	return Parse(strings.NewReader(string(out)))
}

// Parse reads the script's lines. A line without an object goes on with the one
// before, because a file's name may have a line break.
func Parse(r io.Reader) (Print, error) {
	p := Print{}
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 16<<20)
	var last Object
	for scan.Scan() {
		section, rest, ok := strings.Cut(scan.Text(), "\t")
		name, value, ok2 := strings.Cut(rest, "\t")
		if !ok || !ok2 {
			if last == (Object{}) {
				return nil, fmt.Errorf("line %q of a fingerprint has no section, name and value", short(scan.Text()))
			}
			p[last] += "\n" + scan.Text()
			continue
		}
		last = Object{section, name}
		if had, twice := p[last]; twice {
			value = had + "\n" + value
		}
		p[last] = value
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read a fingerprint: %w", err)
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("a fingerprint without a line")
	}
	return p, nil
}

// Diff lists what is not as it was, by section and name.
func Diff(before, after Print) []Difference {
	var out []Difference
	for o, was := range before {
		if is, there := after[o]; !there || is != was {
			out = append(out, Difference{o.Section, o.Name, was, is})
		}
	}
	for o, is := range after {
		if _, there := before[o]; !there {
			out = append(out, Difference{o.Section, o.Name, "", is})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Name, b.Name))
	})
	return out
}
