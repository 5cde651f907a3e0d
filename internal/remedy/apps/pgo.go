package apps

import (
	"fmt"
	"path"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// buildScript saves what the build makes, then builds as the checkout's owner.
// Its arguments are the number of products, the products, the command. Saving
// again finds the first copy and keeps that.
const buildScript = `set -e
n=$1; shift
while [ "$n" -gt 0 ]; do
  was=$(dirname -- "$1")/.kasoku-before-$(basename -- "$1")
  if [ ! -e "$was" ] && [ ! -e "$was.none" ]; then
    if [ -e "$1" ]; then rm -rf -- "$was.part"; cp -a -- "$1" "$was.part"; sync -- "$was.part"; mv -- "$was.part" "$was"; else : >"$was.none"; fi
  fi
  shift; n=$((n - 1))
done
owner=$(stat -c %U .)
if [ "$(id -u)" = 0 ] && [ "$owner" != root ] && [ "$owner" != UNKNOWN ]; then
  exec runuser -u "$owner" -- env HOME="$(getent passwd "$owner" | cut -d: -f6)" "$@"
fi
exec "$@"`

// putBackScript gives the products back as they were; what was not saved yet
// was not touched.
const putBackScript = `set -e
for p do
  was=$(dirname -- "$p")/.kasoku-before-$(basename -- "$p")
  rm -rf -- "$was.part"
  if [ -e "$was" ]; then
    if [ -d "$p" ]; then rm -rf -- "$p"; fi
    mv -f -- "$was" "$p"
  elif [ -e "$was.none" ]; then
    rm -rf -- "$p"; rm -f -- "$was.none"
  fi
done`

// planPGO puts the run's CPU profile beside the main package and builds again.
func planPGO(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	b := svc.Build
	data := in.Snapshot.GoProfiles[svc.Name]
	process := in.Snapshot.Apps[svc.Name]
	switch {
	case b == nil:
		return nil, fmt.Errorf("name in kasoku.yaml how %s is built (build: dir, command, products)", svc.Name)
	case len(data) == 0:
		return nil, fmt.Errorf("no CPU profile of %s was taken in this session", svc.Name)
	case process.Go != nil && !process.Go.AtLeast(21):
		// -pgo=auto finds default.pgo since Go 1.21 (its release notes).
		return nil, fmt.Errorf("%s was built by %s, which does not take default.pgo by itself", svc.Name, process.Go.Version)
	}
	file := path.Join(b.Dir, "default.pgo")
	changes, err := planning.StartChanges(in, svc, map[string][]byte{file: data}, f.Text)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		changes[i].Activate = change.None // the build reads it, then the app is restarted
	}
	changes = append(changes, built(svc, b.Command, f.Text))
	return []planning.Plan{{ID: "go.pgo:" + svc.Name, Title: "Build " + svc.Name + " by its own CPU profile", Changes: changes}}, nil
}

// built is a build by a command in place of the service's own, which undo takes
// back product by product.
func built(svc *stack.Service, command []string, why string) change.Change {
	b := svc.Build
	apply := append([]string{"sh", "-c", buildScript, "kasoku", fmt.Sprint(len(b.Products))}, b.Products...)
	return change.Change{Kind: change.KindExec, Host: planning.HostOf(svc), Service: svc.Name, Activate: change.Restart, Dir: b.Dir,
		Apply: append(apply, command...), Undo: append([]string{"sh", "-c", putBackScript, "kasoku"}, b.Products...),
		Why: why, Command: fmt.Sprintf("cd %s && %s", b.Dir, strings.Join(command, " "))}
}

// mentions reports whether an expression takes a variable's value.
func mentions(expression, name string) bool { return strings.Contains(expression, name) }
