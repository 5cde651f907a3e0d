package digest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FolderInputs are the logs in a folder, not those in folders within: the access
// logs that it holds, or if there are none, the slow query logs. What else is
// there is named in note, with the reason. Where some files are called access,
// others are left out, since a folder of nginx's has an error log, too.
func FolderInputs(name string) (in []Input, note string, err error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, "", fmt.Errorf("open logs: %w", err)
	}
	byKind := map[Kind][]Input{}
	var left []string
	leave := func(file, why string) { left = append(left, file+" ("+why+")") }
	for _, e := range entries {
		path := filepath.Join(name, e.Name())
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		one, err := FileInput(path)
		if err != nil {
			leave(e.Name(), "it cannot be read")
			continue
		}
		head, err := firstBytes(one)
		if err != nil {
			leave(e.Name(), "it cannot be unpacked")
			continue
		}
		switch kind, err := KindOf(path, head); {
		case err != nil:
			leave(e.Name(), "it is no log of a known form")
		case kind == KindEmpty:
			leave(e.Name(), "it is empty")
		case kind == KindSlow && isGeneral(head):
			leave(e.Name(), "it has no times")
		default:
			byKind[kind] = append(byKind[kind], one)
		}
	}
	kind := KindAccess
	if len(byKind[kind]) == 0 {
		kind = KindSlow
	}
	for _, i := range byKind[KindSlow] {
		if kind == KindAccess {
			leave(filepath.Base(i.Name), "it is a slow query log")
		}
	}
	in = byKind[kind]
	named := func(i Input) bool { return strings.Contains(filepath.Base(i.Name), "access") }
	if slices.ContainsFunc(in, named) {
		in = slices.DeleteFunc(in, func(i Input) bool {
			if !named(i) {
				leave(filepath.Base(i.Name), "others are called access")
			}
			return !named(i)
		})
	}
	if len(in) == 0 {
		return nil, "", fmt.Errorf("%s is a folder without a log that is understood%s", name, leftText(": ", left))
	}
	var names []string
	for _, i := range in {
		names = append(names, filepath.Base(i.Name))
	}
	return in, fmt.Sprintf("of the folder %s are read: %s%s", name, strings.Join(names, ", "), leftText("; left out: ", left)), nil
}

// leftText names some of what was left out.
func leftText(before string, left []string) string {
	const most = 5
	if len(left) == 0 {
		return ""
	}
	more := ""
	if n := len(left) - most; n > 0 {
		left, more = left[:most], fmt.Sprintf(" and %d more", n)
	}
	return before + strings.Join(left, ", ") + more
}
