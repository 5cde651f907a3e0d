// Package host is a machine: run a command, read, atomically replace a file.
//
// It is the lowest stage of the pipeline: everything that Kasoku reads from or
// writes to a target passes through a Host. Writing methods are called by
// internal/change only (lint checks it).
package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"time"
)

// Hash is the lower-case hexadecimal SHA-256 of a file's bytes.
// The empty Hash stands for "the file does not exist".
type Hash string

// HashOf returns the hash of b.
func HashOf(b []byte) Hash {
	s := sha256.Sum256(b)
	return Hash(hex.EncodeToString(s[:]))
}

// ErrChanged is returned by ReplaceFile and Remove when the file on the host
// is not the one that the caller expected. Nothing was written.
var ErrChanged = errors.New("the file was changed by someone else")

// Command is a program to run on a host. It is never given to a shell.
type Command struct {
	Argv  []string
	Stdin []byte
	// Env is added to the environment of the host's Kasoku user.
	Env []string
	// Dir is the working directory; empty: the user's home or current one.
	Dir string
	// Timeout ends the command with SIGKILL; 0 means 30 s.
	Timeout time.Duration
	// Keep is how many bytes of each stream are kept from its begin and as many
	// from its end; what is between them is replaced by a line that says so.
	// 0: everything, and a command that prints without end is killed.
	Keep int64
	// Started is told the command's process number, which is its process
	// group's too, before Run waits for its end; may be nil. It must not block.
	Started func(pid int)
	// EndGroup kills what the command leaves behind in its process group when
	// it has ended by itself.
	EndGroup bool
}

// Result of a Command that ran to its end.
type Result struct {
	Stdout, Stderr []byte
	ExitCode       int
	Took           time.Duration
	// CPU time of the command and of its descendants that were waited for
	// (getrusage(2)); not of those that outlived their parent.
	CPU time.Duration
}

// FileInfo is what Stat tells. It never follows a symlink at the last step.
type FileInfo struct {
	Path     string
	Mode     fs.FileMode // type and permission bits
	UID, GID int
	Size     int64
	ModTime  time.Time
	Target   string // of a symlink
}

// Replace says what ReplaceFile may assume and what it must set.
type Replace struct {
	// Expect is the hash of the file's present bytes; "" if it must not exist.
	Expect Hash
	// Mode, UID and GID are set on a file that did not exist. An existing
	// file keeps its own mode, owner and extended attributes.
	Mode     fs.FileMode
	UID, GID int // -1: the Kasoku user's
	// ModTime is set on the new file when it is not zero (used by undo).
	ModTime time.Time
}

// Host is one machine. Contract, which one suite checks for every
// implementation:
//   - Every method stops when ctx ends and returns ctx.Err() wrapped.
//   - Run returns an error only when the command could not be started, timed
//     out or was cancelled; a non-zero exit is not an error. After an error the
//     command's process group is dead.
//   - ReplaceFile is atomic and durable: temporary file in the same directory,
//     fsync, rename, fsync of the directory. A symlink is resolved and its
//     target replaced. Either the old or the new bytes are there, never a mix;
//     temporary files (named .kasoku-*) do not survive an error.
//   - ReplaceFile and ReadFile take regular files only, and ReplaceFile refuses
//     a file with several hard links, which a rename would part.
//   - A missing file is reported as fs.ErrNotExist, missing rights as
//     fs.ErrPermission, a hash that does not match as ErrChanged.
//   - Reading methods may be retried; ReplaceFile may be retried because it
//     expects a hash.
type Host interface {
	Name() string
	Run(ctx context.Context, c Command) (Result, error)
	ReadFile(ctx context.Context, path string) ([]byte, error)
	Stat(ctx context.Context, path string) (FileInfo, error)
	List(ctx context.Context, dir string) ([]FileInfo, error)
	ReplaceFile(ctx context.Context, path string, data []byte, r Replace) error
	// Remove deletes a file whose hash is expect. A symlink is resolved, as in
	// ReplaceFile.
	Remove(ctx context.Context, path string, expect Hash) error
	// MakeDir creates one directory (its parent must exist). fs.ErrExist if
	// something is there.
	MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) error
	// RemoveDir deletes a directory and everything in it. No error if absent.
	RemoveDir(ctx context.Context, path string) error
	// Lock takes an exclusive advisory lock on a file, which is created if
	// absent. ErrLocked names the holder if another process has it.
	Lock(ctx context.Context, path string) (unlock func() error, err error)
	// DialContext connects to an endpoint ("tcp", "unix") as seen from the host.
	// ctx bounds connecting only.
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
	// Program returns the path, on the host, of a Kasoku program of this very
	// version that the host can run. It is put there if need be, and stays at
	// least until the Host is closed.
	Program(ctx context.Context) (path string, err error)
}

// ErrLocked is returned by Lock when another live process holds the lock.
var ErrLocked = errors.New("locked by another process")
