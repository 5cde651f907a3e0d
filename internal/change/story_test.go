package change

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// withUnit adds to the archive of makeRepository a package that brings a unit.
const withUnit = `
mkdir -p /repo/kunit_1/DEBIAN /repo/kunit_1/usr/share/kunit /repo/kunit_1/usr/lib/systemd/system /repo/kunit_1/etc; cd /repo
printf 'Package: kunit\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@localhost>\nDescription: for a test\n' >kunit_1/DEBIAN/control
printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' >kunit_1/usr/lib/systemd/system/kunit.service
echo 1 >kunit_1/usr/share/kunit/version; echo unit >kunit_1/etc/kunit.conf; echo /etc/kunit.conf >kunit_1/DEBIAN/conffiles
dpkg-deb --build --root-owner-group kunit_1 >/dev/null; rm -r kunit_1
dpkg-scanpackages -m . >Packages 2>/dev/null || apt-ftparchive packages . >Packages
apt-get update -qq -o APT::Sandbox::User=root
`

// happening is one change of a story. It is planned on a host on which the one
// that it needs is in force: both are not of one transaction.
type happening struct {
	plan  func() Change
	needs int // index; -1: none
}

// storyOf is what happens to a host, each after those before it: packages, units
// that they bring, units that Kasoku writes, links, drop-ins, files.
func storyOf(t *testing.T, o overlay) []happening {
	t.Helper()
	read := func(path string) string {
		data, err := o.ReadFile(t.Context(), path)
		must(t, err)
		return string(data)
	}
	on := func(c Change) Change { c.Host = "target"; return c }
	fixed := func(c Change) func() Change { return func() Change { return on(c) } }
	edit := func(path string) func() Change { // as the file is when it comes to turn
		return func() Change {
			info, err := o.Stat(t.Context(), path)
			must(t, err)
			text := read(path)
			c := edit1(path, text, text+"more\n", "", None)
			for _, s := range []*FileState{c.Before, c.After} {
				s.Mode, s.UID, s.GID = info.Mode, info.UID, info.GID
			}
			return on(c)
		}
	}
	service := "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
	return []happening{
		{fixed(install("kunit", "candidate")), -1},
		{fixed(Change{Kind: KindLink, Path: "/etc/klink", Link: &Link{Target: "/usr/share/kunit/version"}}), -1},
		{fixed(unit("kunit.service", UnitState{"enabled", "active"})), 0},
		{fixed(Change{Kind: KindDir, Path: "/etc/systemd/system/kunit.service.d"}), -1},
		{fixed(create("/etc/systemd/system/kunit.service.d/zz-kasoku.conf", "[Service]\nLimitNOFILE=4096\n", "")), -1},
		{edit("/etc/kunit.conf"), 0},
		{fixed(unit("kapp.service", UnitState{"disabled", "inactive"})), -1},
		{fixed(create("/etc/systemd/system/kmade.service", service, "")), -1},
		{fixed(unit("kmade.service", UnitState{"enabled", "active"})), 7},
		{fixed(install("ktool", "2")), -1},
		{edit("/etc/ktool/b.conf"), 9},
		{fixed(unit("kunit.service", UnitState{"masked", "inactive"})), 2},
	}
}

// seenStory is everything of the overlay that a story touches.
func (o overlay) seenStory(t *testing.T) string {
	t.Helper()
	return o.seenPackages(t) + "\n" + o.sh(t, `find /etc/systemd/system /etc/k* /usr/lib/systemd/system/k* -path '*k*' -printf '%p %y %m %u:%g %l\n' | sort
find /etc/k* /etc/systemd/system/k* -type f -exec stat -c '%n %y %s' {} + | sort
ls /run/units 2>/dev/null || true
for u in kapp koff kown; do echo $u $(systemctl is-enabled $u.service) $(systemctl is-active $u.service); done`)
}

// Stories of many kinds of changes, in transactions and phases as it happens, are
// undone at every point of them: packages are purged while units that they
// brought are known to the journal, units lose the files that Kasoku wrote for them.
func TestStories(t *testing.T) {
	await.SkipShort(t)
	stories := 1
	if os.Getenv("LONG") != "" {
		stories = 12
	}
	for n := range stories {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l, o := packageLab(t)
			o.sh(t, withUnit+standIn)
			before := o.seenStory(t)
			opts := l.options(l.project(t))
			me := &mortal{}
			opts.Hosts = map[string]host.Host{"target": o, "local": me}
			var die func(step string)
			opts.Trace = func(step string) {
				if die != nil {
					die(step)
				}
			}
			x, err := Open(t.Context(), opts)
			must(t, err)
			defer func() { x.Close() }()
			coin := rand.New(rand.NewPCG(seed(), uint64(n)))
			story := storyOf(t, o)
			undoAt := 1 + coin.IntN(len(story)-1) // all is put back there, and begins anew
			for done := 0; done < len(story); {
				end := min(done+1+coin.IntN(4), len(story))
				if done < undoAt {
					end = min(end, undoAt)
				}
				phased, began := coin.IntN(2) == 1, done
				in := Intent{}
				for ; done < end && story[done].needs < began; done++ {
					c := story[done].plan()
					if phased {
						c.Phase = done - began
					}
					in.Changes, in.Title = append(in.Changes, c), in.Title+" "+string(c.Kind)
				}
				tx, err := x.Apply(t.Context(), in)
				if err != nil {
					t.Fatalf("%s: %v", in.Title, err)
				}
				must(t, x.Keep(t.Context(), tx.ID))
				t.Logf("tx %d:%s, phases %v", tx.ID, in.Title, phased)
				if done == undoAt {
					must(t, x.UndoAll(t.Context()))
					wantEqual(t, fmt.Sprintf("undone after %d changes", done), o.seenStory(t), before)
					done, undoAt = 0, 0
				}
			}
			// The last undo ends in its middle, as a killed process leaves it, and the
			// next process goes on.
			died := make(chan string)
			left := 1 + coin.IntN(60)
			die = func(step string) {
				if left--; left == 0 {
					died <- step
					select {}
				}
			}
			go func() {
				if err := x.UndoAll(t.Context()); err != nil {
					t.Error(err)
				}
				close(died)
			}()
			if step := <-died; step != "" {
				t.Logf("killed before %s", step)
				must(t, x.journal.out.Close())
				me.drop()
				die = nil
				x, err = Open(t.Context(), opts)
				must(t, err)
				_, err := x.Recover(t.Context())
				must(t, err)
			}
			die = nil
			must(t, x.UndoAll(t.Context()))
			wantEqual(t, "undone at the end", o.seenStory(t), before)
			if left := x.Pending(); len(left) > 0 {
				t.Errorf("pending: %v", left)
			}
		})
	}
}
