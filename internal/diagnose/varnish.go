package diagnose

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"kasoku/internal/confedit/unit"
	"kasoku/internal/confedit/vcl"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// VarnishConfig parses a Varnish's VCL out of the snapshot.
func VarnishConfig(snap *evidence.Snapshot, svc *stack.Service) (*vcl.Config, error) {
	read, glob := files(snap, svc)
	var dirs []string
	if p, ok := vcl.ParseArgs(svc.Control.Start).Param("vcl_path"); ok {
		dirs = strings.Split(p, ":")
	}
	return vcl.Load(svc.Config, dirs, read, glob)
}

// VarnishStart is where varnishd's arguments are written.
type VarnishStart struct {
	Args *vcl.Args
	// Path of a script or defaults file that starts it, and the part of its
	// text that is the command; Unit if a unit does.
	Path     string
	From, To int
	Unit     *unit.Config
}

// varnishNumbers are the defaults of parameters (varnishd(1) of 7.1, "List of
// parameters"; the same since 4.1).
var varnishNumbers = map[string]int{"thread_pools": 2, "thread_pool_min": 100, "thread_pool_max": 5000}

// Number is the value of a parameter of varnishNumbers that varnishd is started with.
func (s *VarnishStart) Number(param string) int {
	text, _ := s.Args.Param(param)
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return varnishNumbers[param]
}

// varnishCommand is a line of a shell script that starts varnishd.
var varnishCommand = regexp.MustCompile(`(?m)^[ \t]*(?:exec[ \t]+)?(/?(?:[\w.-]+/)*varnishd[ \t](?:[^\\\n]|\\\n|\\.)*)`)

// FindVarnishStart looks for varnishd's arguments in its unit, or in the
// script that control.start names.
func FindVarnishStart(snap *evidence.Snapshot, svc *stack.Service) (*VarnishStart, error) {
	if svc.ControlMethod() == stack.MethodSystemd {
		name := svc.Control.Unit
		if path.Ext(name) == "" {
			name += ".service"
		}
		read, glob := files(snap, svc)
		conf, err := unit.Load(name, read, glob)
		if err != nil {
			return nil, err
		}
		lines := conf.List("Service", "ExecStart")
		if len(lines) != 1 {
			return nil, fmt.Errorf("%s has %d lines ExecStart", name, len(lines))
		}
		args, err := vcl.ParseLine(lines[0].Text)
		return &VarnishStart{Args: args, Unit: conf}, err
	}
	for _, p := range svc.Control.Start {
		f, ok := snap.Files[hostOf(svc)][p]
		if !ok {
			continue
		}
		if at := varnishCommand.FindSubmatchIndex(f.Content); at != nil {
			args, err := vcl.ParseLine(string(f.Content[at[2]:at[3]]))
			return &VarnishStart{Args: args, Path: p, From: at[2], To: at[3]}, err
		}
	}
	return nil, fmt.Errorf("no unit and no script that control.start names holds the arguments of %s", svc.Name)
}
