package stack

import (
	"slices"
)

// Main is the name of the implementation that a service's own keys describe,
// beside those of its variants.
const Main = "main"

// Variant is another implementation of an app service, which answers the same
// requests at the same address: in another language, under another application
// server, with workers that live longer. One of them runs at a time.
type Variant struct {
	// Name among the service's implementations; not "main".
	Name string `yaml:"name" json:"name"`
	// Control of this one. With method process or command it must have
	// pid_file, because all implementations listen at the same address.
	Control Control `yaml:"control" json:"control"`
	// Binary, PProf and Build are of this one's program and are not taken from
	// the service; Root and Settings are the service's where they are empty.
	Binary   string   `yaml:"binary,omitempty" json:"binary,omitempty"`
	Root     string   `yaml:"root,omitempty" json:"root,omitempty"`
	Settings []string `yaml:"settings,omitempty,flow" json:"settings,omitempty"`
	PProf    string   `yaml:"pprof,omitempty" json:"pprof,omitempty"`
	Build    *Build   `yaml:"build,omitempty" json:"build,omitempty"`
}

// Implementations are the names of a service's implementations, Main first;
// nil if it has no variants.
func (s *Service) Implementations() []string {
	if len(s.Variants) == 0 {
		return nil
	}
	out := []string{Main}
	for _, v := range s.Variants {
		out = append(out, v.Name)
	}
	return out
}

// InUse is the implementation that the service stands for; "" if it has no
// variants, or if nobody has looked which of them runs (see Stack.InUse).
func (s *Service) InUse() string { return s.using }

// As is the service with one of its implementations; nil if it has none of
// that name.
func (s *Service) As(name string) *Service {
	main := s
	if s.main != nil {
		main = s.main
	}
	if !slices.Contains(main.Implementations(), name) {
		return nil
	}
	as := *main
	as.main, as.using = main, name
	for _, v := range main.Variants {
		if v.Name != name {
			continue
		}
		as.Control, as.Binary, as.PProf, as.Build, as.Config = v.Control, v.Binary, v.PProf, v.Build, ""
		if v.Root != "" {
			as.Root = v.Root
		}
		if v.Settings != nil {
			as.Settings = v.Settings
		}
	}
	return &as
}

// With is the stack with services as the given implementations, by service
// name; the stack itself if there are none.
func (s *Stack) With(using map[string]string) *Stack {
	if len(using) == 0 {
		return s
	}
	out := *s
	out.Services = slices.Clone(s.Services)
	for i := range out.Services {
		if as := s.Services[i].As(using[s.Services[i].Name]); as != nil {
			out.Services[i] = *as
		}
	}
	return &out
}
