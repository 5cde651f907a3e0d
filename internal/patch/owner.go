package patch

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"kasoku/internal/host"
)

// owner is who a checkout belongs to, where Kasoku runs as root and he is somebody else:
// git works as he, so that what is written is his, and nothing of his is run by root.
type owner struct {
	uid, gid uint32
	home     string // "" unknown
}

// ownerOf a folder; nil where git and go work as whoever runs Kasoku.
func ownerOf(dir string) *owner {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil
	}
	o := &owner{uid: st.Uid, gid: st.Gid}
	if u, err := user.LookupId(strconv.FormatUint(uint64(st.Uid), 10)); err == nil {
		o.home = u.HomeDir
	}
	return o
}

// does lets a command run as the owner.
func (o *owner) does(cmd *exec.Cmd) {
	if o == nil {
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid}}
	if o.home != "" {
		cmd.Env = append(cmd.Env, "HOME="+o.home, "XDG_CONFIG_HOME="+filepath.Join(o.home, ".config"))
	}
}

// folder makes a folder for a while that the owner may write to.
func (o *owner) folder() (string, error) {
	dir, err := os.MkdirTemp("", "kasoku-patch")
	if err == nil && o != nil {
		err = os.Chown(dir, int(o.uid), int(o.gid))
	}
	return dir, err
}

// goEnv is the environment in which the Go tool finds what the owner's programs need: the
// modules that he has. None is fetched into his folders, and what is compiled stays in
// Kasoku's own cache.
func (o *owner) goEnv() []string {
	env := os.Environ()
	if o == nil || o.home == "" || os.Getenv("GOMODCACHE") != "" || os.Getenv("GOPATH") != "" {
		return env
	}
	modules := filepath.Join(o.home, "go/pkg/mod")
	if _, err := os.Stat(modules); err != nil {
		return env
	}
	return append(env, "GOMODCACHE="+modules, "GOPROXY=off")
}

// findGo puts the Go tool of the owner into PATH where there is none.
func (o *owner) findGo() {
	if _, err := exec.LookPath("go"); err == nil {
		return
	}
	home := ""
	if o != nil {
		home = o.home
	} else if h, err := os.UserHomeDir(); err == nil {
		home = h
	}
	for _, pattern := range host.GoTools(home) {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			continue
		}
		os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(found[len(found)-1]))
		return
	}
}
