package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"kasoku/internal/foreign"
	"kasoku/internal/regulation"
)

// Render writes the stack as a commented kasoku.yaml. Load of the text gives
// the same stack; paths below s.Dir become relative to it. Defaults are left
// out, and no password can be in it because Login holds none.
func (s *Stack) Render() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`# yaml-language-server: $schema=` + SchemaURL + `
# (kasoku schema > ` + SchemaURL + ` lets editors complete keys.)
# kasoku.yaml says what Kasoku may measure and tune. Relative paths are relative
# to this file's folder; Kasoku keeps its state in .kasoku beside it.

`)
	if err := section(&b, struct {
		Version int    `yaml:"version"`
		Name    string `yaml:"name"`
	}{max(s.Version, 1), s.Name}); err != nil {
		return nil, err
	}
	if len(s.Hosts) > 0 {
		b.WriteString("\n# Other machines than this one, reached by ssh with your own configuration.\n")
		if err := section(&b, struct {
			Hosts map[string]HostConfig `yaml:"hosts"`
		}{s.relativeHosts()}); err != nil {
			return nil, err
		}
	}
	b.WriteString(`
# What runs and can be tuned: its main configuration file (includes are
# followed), where it listens, whom it talks to, how it is controlled and how to
# know that it answers.
`)
	if err := s.renderServices(&b); err != nil {
		return nil, err
	}
	if err := s.renderLoad(&b); err != nil {
		return nil, err
	}
	if err := s.renderRegulation(&b); err != nil {
		return nil, err
	}
	if err := s.renderChecks(&b); err != nil {
		return nil, err
	}
	if err := s.renderEvidence(&b); err != nil {
		return nil, err
	}
	if err := s.renderTune(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (s *Stack) renderServices(b *bytes.Buffer) error {
	if len(s.Services) == 0 {
		b.WriteString("services: []\n")
		return nil
	}
	b.WriteString("services:\n")
	for i := range s.Services {
		svc := s.relativeService(s.Services[i])
		if i > 0 {
			b.WriteString("\n")
		}
		if svc.Version != "" {
			fmt.Fprintf(b, "  # %s %s, as found\n", svc.Kind, oneLine(svc.Version))
		}
		text, err := yaml.MarshalWithOptions([]Service{svc}, safeText)
		if err != nil {
			return fmt.Errorf("write service %s as YAML: %w", svc.Name, err)
		}
		for line := range strings.Lines(string(text)) {
			b.WriteString("  " + line)
		}
		if svc.IsDatabase() && svc.Login == nil {
			b.WriteString(loginHint)
		}
	}
	return nil
}

const loginHint = `    # Without a login Kasoku cannot read statements, plans and counters. Fill in
    # one of these; the password itself stays out of this file:
    # login: {user: root, password_file: /etc/kasoku/db-password}
    # login: {user: root, password_env: DB_PASSWORD}
    # login: {defaults_file: ~/.my.cnf}
`

func (s *Stack) renderLoad(b *bytes.Buffer) error {
	l := s.Load
	l.Scenario = s.relative(l.Scenario)
	l.Reset = s.relativeProgram(l.Reset)
	if l.Command != nil {
		c := *l.Command
		c.Argv = s.relativeProgram(c.Argv)
		l.Command = &c
	}
	b.WriteString(`
# What drives the stack: the scenario file says what load and what a right answer
# looks like (or command runs your own benchmark), url is the front door. reset brings the data back to the state that
# every run starts from. allow lists addresses (CIDR) besides this machine's own
# that load may be sent to.
`)
	if err := section(b, struct {
		Load LoadConfig `yaml:"load"`
	}{l}); err != nil {
		return err
	}
	if u, err := url.Parse(l.URL); err == nil && len(l.Allow) == 0 {
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !ip.IsLoopback() {
			fmt.Fprintf(b, "  # allow: [%s/%d]\n", ip, ip.BitLen())
		}
	}
	if !l.Reset.Set() {
		b.WriteString("  # reset: snapshot        (Kasoku puts rows of databases and keys of Redis back itself)\n  # reset: [./reset.sh]    (a command of your own does)\n")
	}
	return nil
}

func (s *Stack) renderRegulation(b *bytes.Buffer) error {
	b.WriteString(`
# What may be traded for speed. Nothing that is not listed under allow; these are
# all there are:
`)
	for _, t := range regulation.Trades {
		fmt.Fprintf(b, "#   %-19s %s\n", string(t.Trade)+":", t.Text)
	}
	fmt.Fprintf(b, `# staleness limits that trade: how old an answer may be (default %s).
# memory_headroom_percent of the memory stays free (default %d). no_restart lists
# services that may only be reloaded, no_touch those that may not be changed.
# install permits installing packages (default false).
`, regulation.DefaultStaleness, regulation.DefaultMemoryHeadroomPercent)
	r := s.Regulation
	if len(r.Allow)+len(r.NoRestart)+len(r.NoTouch) == 0 && r.MemoryHeadroomPercent == 0 && !r.Install && !r.Production {
		b.WriteString("regulation:\n  allow: []\n")
		return nil
	}
	return section(b, struct {
		Regulation regulation.Regulation `yaml:"regulation"`
	}{r})
}

func (s *Stack) renderEvidence(b *bytes.Buffer) error {
	b.WriteString(`
# What runs look at besides what Kasoku finds itself: addresses to receive
# OpenTelemetry spans at (otlp: HTTP, otlp_grpc), names of routes that come
# before the learnt ones, the format of access logs whose server does not tell
# it, and whether profiles are taken (auto or off).
`)
	e := s.Evidence
	if e.OTLP == "" && e.OTLPGRPC == "" && len(e.Routes) == 0 && e.LogFormat == "" && e.Profile == "" {
		b.WriteString("# evidence: {otlp: \"127.0.0.1:4318\", routes: [/users/:name], log_format: ltsv, profile: auto}\n")
		return nil
	}
	return section(b, struct {
		Evidence EvidenceConfig `yaml:"evidence"`
	}{e})
}

func (s *Stack) renderTune(b *bytes.Buffer) error {
	b.WriteString(`
# The loop's own knobs: the smallest effect worth keeping (a fraction), the
# probability that an experiment keeps a change that does nothing, and the most
# pairs of runs an experiment may take.
`)
	if s.Tune == (Tune{}) {
		fmt.Fprintf(b, "# tune: {smallest_effect: %v, alpha: %v, max_pairs: %d, max_foreign_cpu: %v}\n", DefaultSmallestEffect, DefaultAlpha, DefaultMaxPairs, DefaultMaxForeignCPU)
		return nil
	}
	return section(b, struct {
		Tune Tune `yaml:"tune"`
	}{s.Tune})
}

// plainText needs no quotes anywhere in YAML; all other text gets them, because
// the library leaves out some that a flow list needs ("$[").
var plainText = regexp.MustCompile(`^[A-Za-z/._][A-Za-z0-9/._-]*(:[A-Za-z0-9/._-]+)*$`)

var safeText = yaml.CustomMarshaler(func(s string) ([]byte, error) {
	if plainText.MatchString(s) {
		return yaml.Marshal(s) // quotes what reads as a number, a date or true
	}
	return json.Marshal(s) // a JSON string is a YAML string
})

// section appends v as YAML.
func section(b *bytes.Buffer, v any) error {
	text, err := yaml.MarshalWithOptions(v, yaml.IndentSequence(true), safeText)
	if err != nil {
		return fmt.Errorf("write kasoku.yaml: %w", err)
	}
	b.Write(text)
	return nil
}

// relativeHosts is a copy with short paths.
func (s *Stack) relativeHosts() map[string]HostConfig {
	out := maps.Clone(s.Hosts)
	for name, h := range out {
		h.SSHConfig = s.relative(h.SSHConfig)
		out[name] = h
	}
	return out
}

// relativeService is a copy with short paths and without default values.
func (s *Stack) relativeService(svc Service) Service {
	if svc.Host == LocalHost {
		svc.Host = ""
	}
	if svc.Health.Timeout == DefaultHealthTimeout {
		svc.Health.Timeout = 0
	}
	if svc.HostName() != LocalHost {
		return svc // kasoku.yaml's folder is not there
	}
	for _, p := range []*string{&svc.Config, &svc.Prefix, &svc.PHPIni, &svc.Root, &svc.Control.PIDFile, &svc.Control.EnvFile, &svc.Control.Config, &svc.AccessLog} {
		*p = s.relative(*p)
	}
	svc.Settings = slices.Clone(svc.Settings)
	for i := range svc.Settings {
		svc.Settings[i] = s.relative(svc.Settings[i])
	}
	svc.Logs = slices.Clone(svc.Logs)
	for i := range svc.Logs {
		svc.Logs[i] = s.relative(svc.Logs[i])
	}
	svc.Listen = slices.Clone(svc.Listen)
	for i, l := range svc.Listen {
		if path, ok := strings.CutPrefix(l, "unix:"); ok {
			svc.Listen[i] = "unix:" + s.relative(path)
		}
	}
	c := &svc.Control
	for _, argv := range []*foreign.Argv{&c.Start, &c.Stop, &c.Reload, &c.Check, &c.Drain} {
		*argv = s.relativeProgram(*argv)
	}
	if svc.Build != nil {
		b := *svc.Build
		b.Dir = s.relative(b.Dir)
		svc.Build = &b
	}
	svc.Variants = slices.Clone(svc.Variants)
	for i := range svc.Variants {
		svc.Variants[i] = s.relativeVariant(svc.Variants[i])
	}
	if svc.Login != nil {
		l := *svc.Login
		l.PasswordFile, l.DefaultsFile, l.Socket = s.relative(l.PasswordFile), s.relative(l.DefaultsFile), s.relative(l.Socket)
		svc.Login = &l
	}
	return svc
}

// relativeVariant is a copy with short paths.
func (s *Stack) relativeVariant(v Variant) Variant {
	c := &v.Control
	for _, p := range []*string{&v.Root, &c.PIDFile, &c.EnvFile, &c.Config} {
		*p = s.relative(*p)
	}
	v.Settings = slices.Clone(v.Settings)
	for i := range v.Settings {
		v.Settings[i] = s.relative(v.Settings[i])
	}
	for _, argv := range []*foreign.Argv{&c.Start, &c.Stop, &c.Reload, &c.Check, &c.Drain} {
		*argv = s.relativeProgram(*argv)
	}
	if v.Build != nil {
		b := *v.Build
		b.Dir = s.relative(b.Dir)
		v.Build = &b
	}
	return v
}

// relative shortens a path below s.Dir. The folder itself becomes ".".
func (s *Stack) relative(path string) string {
	if s.Dir == "" || s.Dir == "/" || !filepath.IsAbs(path) {
		return path
	}
	rel, err := filepath.Rel(s.Dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(rel, "@") || strings.HasPrefix(rel, "~") {
		return path
	}
	return rel
}

func (s *Stack) relativeProgram(argv []string) []string {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return argv
	}
	out := slices.Clone(argv)
	if rel := s.relative(argv[0]); rel != argv[0] {
		out[0] = "./" + rel
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
