package host

import "path"

// GoTools are where the Go tool mostly lies if PATH does not name it, as shell patterns:
// the places of its own installation guide, of distributions, and, below the home folder
// of who builds ("": of nobody), where people unpack it for themselves.
func GoTools(home string) []string {
	out := []string{"/usr/local/go/bin/go", "/usr/lib/go/bin/go", "/usr/lib/go-*/bin/go", "/opt/go/bin/go", "/snap/bin/go", "/home/linuxbrew/.linuxbrew/bin/go"}
	if home == "" {
		return out
	}
	for _, at := range []string{"go/bin/go", "local/go/bin/go", "local/golang/bin/go", ".local/go/bin/go", "sdk/go*/bin/go", ".asdf/shims/go", ".goenv/shims/go", ".gvm/gos/go*/bin/go", ".local/share/mise/shims/go"} {
		out = append(out, path.Join(home, at))
	}
	return out
}
