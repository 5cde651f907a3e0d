package hosttest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kasoku/internal/host"
)

// suiteAttributes: what a file has besides its bytes stays on it.
func suiteAttributes(t *testing.T, h host.Host) {
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, []byte("1"), 0o640))
	want := map[string][]byte{}
	for name, value := range map[string][]byte{
		"user.kasoku": []byte("kept\x00with a zero"),
		"user.empty":  {},
		// A label as SELinux writes it; the kernel stores it without SELinux too.
		"security.selinux": []byte("system_u:object_r:httpd_config_t:s0\x00"),
		// Version 2; owner rw-, user 33 r--, group r--, mask r--, others ---.
		"system.posix_acl_access": []byte("\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x21\x00\x00\x00" +
			"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"),
	} {
		err := syscall.Setxattr(file, name, value, 0)
		switch {
		case err == nil:
			want[name] = value
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EPERM):
			t.Logf("not judged: this file system or user cannot set %s", name)
		default:
			t.Fatalf("set %s: %v", name, err)
		}
	}
	must(t, h.ReplaceFile(t.Context(), file, []byte("2"), host.Replace{Expect: host.HashOf([]byte("1"))}))
	wantContent(t, file, "2")
	for name, value := range want {
		got := make([]byte, 200)
		n, err := syscall.Getxattr(file, name, got)
		if err != nil || !bytes.Equal(got[:n], value) {
			t.Errorf("%s is %q, %v; want %q", name, got[:max(n, 0)], err, value)
		}
	}
}

// suiteSymlinks: a chain of links, relative and absolute, through a folder that
// is a link itself, leads to the file; no link is replaced.
func suiteSymlinks(t *testing.T, h host.Host) {
	dir, ctx := t.TempDir(), t.Context()
	available, enabled := filepath.Join(dir, "available"), filepath.Join(dir, "enabled")
	must(t, os.Mkdir(available, 0o755))
	must(t, os.Mkdir(enabled, 0o755))
	file := filepath.Join(available, "site")
	must(t, os.WriteFile(file, []byte("1"), 0o644))
	must(t, os.Symlink("../available/site", filepath.Join(enabled, "relative")))
	must(t, os.Symlink(filepath.Join(enabled, "relative"), filepath.Join(enabled, "absolute")))
	must(t, os.Symlink("enabled", filepath.Join(dir, "folder")))

	path := filepath.Join(dir, "folder", "absolute")
	must(t, h.ReplaceFile(ctx, path, []byte("2"), host.Replace{Expect: host.HashOf([]byte("1"))}))
	wantContent(t, file, "2")
	b, err := h.ReadFile(ctx, path)
	must(t, err)
	if string(b) != "2" {
		t.Fatalf("read through links: %q", b)
	}
	for link, want := range map[string]string{"relative": "../available/site", "absolute": filepath.Join(enabled, "relative")} {
		s, err := h.Stat(ctx, filepath.Join(enabled, link))
		must(t, err)
		if s.Mode&fs.ModeSymlink == 0 || s.Target != want {
			t.Fatalf("the link %s became %+v", link, s)
		}
	}
	wantOnly(t, available, "site")
	wantOnly(t, enabled, "absolute", "relative")
}

// suiteNames: any bytes that the kernel takes as a name or an argument arrive as
// they are.
func suiteNames(t *testing.T, h host.Host) {
	dir, ctx := t.TempDir(), t.Context()
	for _, name := range []string{"a b", "'\"$(id)`;&|*?", "line\nbreak", "\xff\xfe not UTF-8", "-n"} {
		file := filepath.Join(dir, name)
		must(t, h.ReplaceFile(ctx, file, []byte(name), host.Replace{Mode: 0o600, UID: -1, GID: -1}))
		wantContent(t, file, name)
		s, err := h.Stat(ctx, file)
		must(t, err)
		if s.Path != file {
			t.Fatalf("stat of %q told %q", file, s.Path)
		}
		r, err := h.Run(ctx, host.Command{Argv: []string{"printf", "%s|%s", name, file}, Env: []string{"K=" + name}, Dir: dir})
		must(t, err)
		if string(r.Stdout) != name+"|"+file {
			t.Fatalf("the argument %q became %q", name, r.Stdout)
		}
		must(t, h.Remove(ctx, file, host.HashOf([]byte(name))))
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 4<<20)
	file := filepath.Join(dir, "big")
	must(t, h.ReplaceFile(ctx, file, big, host.Replace{Mode: 0o600, UID: -1, GID: -1}))
	got, err := h.ReadFile(ctx, file)
	must(t, err)
	if !bytes.Equal(got, big) {
		t.Fatalf("64 MiB came back as %d bytes", len(got))
	}
	r, err := h.Run(ctx, host.Command{Argv: []string{"sha256sum"}, Stdin: big})
	must(t, err)
	if want := string(host.HashOf(big)) + "  -\n"; string(r.Stdout) != want {
		t.Fatalf("64 MiB of standard input: %q, want %q", r.Stdout, want)
	}
}
