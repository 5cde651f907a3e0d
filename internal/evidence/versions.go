package evidence

import (
	"strings"

	"kasoku/internal/knownapp"
)

// Versions are what each service's program says that it is, by service; those
// that tell none are left out.
func (s *Snapshot) Versions() map[string]string {
	out := map[string]string{}
	for name, b := range s.Nginx {
		out[name] = "nginx " + b.Version
	}
	for name, b := range s.Apache {
		if b.PHPVersion != "" {
			out[name] = "Apache with PHP " + b.PHPVersion
		}
	}
	for name, v := range s.PHP {
		if _, apache := s.Apache[name]; v["version"] != "" {
			out[name] = "PHP " + v["version"]
			if apache {
				out[name] = "Apache with PHP " + v["version"]
			}
		}
	}
	for name, d := range s.Databases {
		product := "MySQL "
		if d.MariaDB {
			product = "MariaDB "
		}
		out[name] = product + d.Version
	}
	for name, a := range s.Apps {
		if a.Go != nil {
			out[name] = "built by " + a.Go.Version
		}
	}
	for name, f := range s.Known {
		if app := knownapp.ByID(f.ID); app != nil {
			out[name] = strings.TrimSpace(app.Name + " " + f.Version)
		}
	}
	return out
}
