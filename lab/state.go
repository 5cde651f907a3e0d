package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DefaultDir is the state folder where neither an option nor $KASOKU_LAB names one.
const DefaultDir = "/var/lib/kasoku-lab"

func stateDir(dir string) string {
	dir = cmp.Or(dir, os.Getenv("KASOKU_LAB"), DefaultDir)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Lab is a set of hosts on one network. All of it stands in files, so that a
// Lab opened by another process is as good as the one that Up returned.
type Lab struct {
	Name      string    `json:"name"`
	Dir       string    `json:"dir"`        // its folder
	SSHConfig string    `json:"ssh_config"` // use it as ssh -F
	Namespace string    `json:"namespace"`  // of its network: /run/netns/NAMESPACE
	Gateway   string    `json:"gateway"`    // the address of programs that Exec runs
	Base      string    `json:"base"`       // the root file system below its hosts
	Program   string    `json:"program"`    // the kasoku that supervises
	Created   time.Time `json:"created"`
	Hosts     []*Host   `json:"hosts"`
}

// Host is one of them.
type Host struct {
	Name           string `json:"name"`            // h1, h2, …
	Address        string `json:"address"`         // reachable from inside the lab's network
	SSHDestination string `json:"ssh_destination"` // for ssh -F SSHConfig; the user is root
	Machine        string `json:"machine"`         // systemd-nspawn's name, unique on this machine
	State          string `json:"state"`           // systemd's word when it was first up: "running", or "degraded" and the units that failed
	Root           string `json:"root"`            // its file system as seen from this machine, while it is up

	lab *Lab
}

// The addresses are seen only within the lab's own network, so every lab can
// have the same and none can collide with the machine's.
const (
	gateway   = "10.213.0.1"
	addressOf = "10.213.0.%d"
	prefix    = 24
	bridge    = "br0"
	maxHosts  = 99
)

func labDir(dir, name string) string { return filepath.Join(stateDir(dir), "labs", name) }

// newLab fills in what follows from name and count.
func newLab(o Options) *Lab {
	l := &Lab{Name: o.Name, Dir: labDir(o.Dir, o.Name), Gateway: gateway, Program: o.Program, Created: time.Now().UTC()}
	l.SSHConfig = filepath.Join(l.Dir, "ssh_config")
	// A folder's labs are apart from those of another folder. Interface names
	// have at most 15 bytes: vb- + k + 6 + - + h99 are 14.
	sum := sha256.Sum256([]byte(l.Dir))
	tag := hex.EncodeToString(sum[:3])
	l.Namespace = "kasoku-" + l.Name + "-" + tag
	for i := 1; i <= o.Count; i++ {
		name := fmt.Sprintf("h%d", i)
		h := &Host{Name: name, Address: fmt.Sprintf(addressOf, 10+i), SSHDestination: name, Machine: "k" + tag + "-" + name, lab: l}
		h.Root = filepath.Join(h.dir(), "root")
		l.Hosts = append(l.Hosts, h)
	}
	return l
}

func (h *Host) dir() string { return filepath.Join(h.lab.Dir, "hosts", h.Name) }

func (h *Host) file(name string) string { return filepath.Join(h.dir(), name) }

// port is the bridge's end of the host's network cable.
func (h *Host) port() string { return "vb-" + h.Machine }

func (l *Lab) netns() string { return filepath.Join("/run/netns", l.Namespace) }

func (l *Lab) save() error { return writeJSON(filepath.Join(l.Dir, "lab.json"), l) }

// Host finds one by name.
func (l *Lab) Host(name string) (*Host, error) {
	for _, h := range l.Hosts {
		if h.Name == name {
			return h, nil
		}
	}
	return nil, fmt.Errorf("lab %s: %w: %q", l.Name, ErrNoHost, name)
}

// ErrNoHost is wrapped by errors about a host that the lab does not have.
var ErrNoHost = errors.New("there is no such host")

// ArgumentError says that something was asked for that cannot be: a name, a
// number of hosts, a cap.
type ArgumentError struct{ Text string }

func (e *ArgumentError) Error() string { return e.Text }

func wrong(format string, args ...any) error { return &ArgumentError{fmt.Sprintf(format, args...)} }

// ErrNoLab is wrapped by Open's error when there is no lab of that name.
var ErrNoLab = errors.New("there is no such lab")

// Open returns the lab of that name in the state folder dir ("": see DefaultDir).
func Open(dir, name string) (*Lab, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return openDir(labDir(dir, name))
}

// checkName keeps a name usable as a file's and a namespace's.
func checkName(name string) error {
	if name == "" || len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name[0] == '-' {
		return wrong("%q cannot be a lab's name; use up to 32 lower-case letters, digits and dashes", name)
	}
	return nil
}

func openDir(dir string) (*Lab, error) {
	l := &Lab{}
	err := readJSON(filepath.Join(dir, "lab.json"), l)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("open lab %s: %w", filepath.Base(dir), ErrNoLab)
		}
		// Up was killed in its first moment; Down has to find what there is.
		return newLab(Options{Dir: filepath.Dir(filepath.Dir(dir)), Name: filepath.Base(dir)}), nil
	}
	if err != nil {
		return nil, err
	}
	for _, h := range l.Hosts {
		h.lab = l
	}
	return l, nil
}

// List returns every lab in the state folder, by name.
func List(dir string) ([]*Lab, error) {
	names, err := os.ReadDir(filepath.Join(stateDir(dir), "labs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the labs: %w", err)
	}
	var out []*Lab
	for _, n := range names {
		l, err := openDir(filepath.Join(stateDir(dir), "labs", n.Name()))
		if errors.Is(err, ErrNoLab) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *Lab) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
