package ssh

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// machine is an architecture by its names: uname -m's, Go's, and ELF's number.
type machine struct {
	uname, goarch string
	elf           elf.Machine
	data          elf.Data
}

// machines that Go builds static Linux programs for. 32-bit x86 systems are
// served by their own build only.
var machines = []machine{
	{"x86_64", "amd64", elf.EM_X86_64, elf.ELFDATA2LSB},
	{"amd64", "amd64", elf.EM_X86_64, elf.ELFDATA2LSB},
	{"aarch64", "arm64", elf.EM_AARCH64, elf.ELFDATA2LSB},
	{"arm64", "arm64", elf.EM_AARCH64, elf.ELFDATA2LSB},
	{"armv7l", "arm", elf.EM_ARM, elf.ELFDATA2LSB},
	{"armv6l", "arm", elf.EM_ARM, elf.ELFDATA2LSB},
	{"i386", "386", elf.EM_386, elf.ELFDATA2LSB},
	{"i686", "386", elf.EM_386, elf.ELFDATA2LSB},
	{"ppc64le", "ppc64le", elf.EM_PPC64, elf.ELFDATA2LSB},
	{"s390x", "s390x", elf.EM_S390, elf.ELFDATA2MSB},
	{"riscv64", "riscv64", elf.EM_RISCV, elf.ELFDATA2LSB},
	{"loongarch64", "loong64", elf.EM_LOONGARCH, elf.ELFDATA2LSB},
}

// build is a Kasoku program on this machine.
type build struct {
	path string
	sum  string // SHA-256, lower-case hexadecimal
	size int64
}

// programFor finds a build that a target of this system (uname -s) and machine
// (uname -m) can run.
func programFor(folder, system, uname string) (build, error) {
	if system != "Linux" {
		return build{}, fmt.Errorf("%w: the target runs %s; Kasoku tunes Linux hosts", ErrProgram, system)
	}
	var m machine
	for _, x := range machines {
		if x.uname == uname {
			m = x
		}
	}
	if m.goarch == "" {
		return build{}, fmt.Errorf("%w: the target's machine %q is none that Kasoku is built for", ErrProgram, uname)
	}
	if folder == "" {
		folder = os.Getenv("KASOKU_PROGRAMS")
	}
	name := "kasoku-linux-" + m.goarch
	if folder != "" {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			if err := m.runs(path); err != nil {
				return build{}, fmt.Errorf("%w: %s: %w", ErrProgram, path, err)
			}
			return describe(path)
		} else if !errors.Is(err, os.ErrNotExist) {
			return build{}, fmt.Errorf("look for a program for the target: %w", err)
		}
	}
	path, err := os.Executable()
	if err != nil {
		return build{}, fmt.Errorf("find this program: %w", err)
	}
	if err := m.runs(path); err != nil {
		return build{}, fmt.Errorf("%w: the target is linux/%s, and this program (%s) %w; build it with CGO_ENABLED=0 GOOS=linux GOARCH=%s go build -o FOLDER/%s ./cmd/kasoku and name FOLDER in KASOKU_PROGRAMS",
			ErrProgram, m.goarch, path, err, m.goarch, name)
	}
	return describe(path)
}

// runs returns an error if the file is not a static Linux program for m.
func (m machine) runs(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("is no Linux program: %w", err)
	}
	defer f.Close()
	if f.Machine != m.elf || f.Data != m.data {
		return fmt.Errorf("is for %s", f.Machine)
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return fmt.Errorf("is of type %s", f.Type)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("is not static: it needs the libraries of the machine that it was built on")
		}
	}
	if libs, err := f.ImportedLibraries(); err == nil && len(libs) > 0 {
		return fmt.Errorf("is not static: it needs %s", libs[0])
	}
	return nil
}

// describe hashes a program.
func describe(path string) (build, error) {
	f, err := os.Open(path)
	if err != nil {
		return build{}, fmt.Errorf("read Kasoku's program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return build{}, fmt.Errorf("read Kasoku's program %s: %w", path, err)
	}
	return build{path: path, sum: hex.EncodeToString(h.Sum(nil)), size: n}, nil
}

// packed returns the program's bytes as gzip, about a third of them.
func (b build) packed() ([]byte, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return nil, fmt.Errorf("read Kasoku's program: %w", err)
	}
	defer f.Close()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(z, f); err != nil {
		return nil, fmt.Errorf("pack Kasoku's program %s: %w", b.path, err)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
