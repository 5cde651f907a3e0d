package agent

import (
	"io/fs"
	"time"

	"kasoku/internal/host"
)

// Op is what a request asks for.
type Op string

// The operations: the methods of host.Host, and those about the helper itself.
const (
	opRun     Op = "Run"
	opRead    Op = "ReadFile"
	opStat    Op = "Stat"
	opList    Op = "List"
	opReplace Op = "ReplaceFile"
	opRemove  Op = "Remove"
	opMakeDir Op = "MakeDir"
	opRmDir   Op = "RemoveDir"
	opLock    Op = "Lock"
	opDial    Op = "Dial"
	opKeep    Op = "Keep"
	opBye     Op = "Bye"
)

// request begins a call. Path is of the file, or the address to dial.
type request struct {
	Op       Op
	Path     string
	Network  string
	Command  command
	Replace  host.Replace
	Expect   host.Hash
	Mode     fs.FileMode
	UID, GID int
	// Was is the holder that a lock is taken over from; 0: it is a new lock.
	Was int
	// Keep is whether the helper's file stays.
	Keep bool
	// Body is how many bytes follow: a file's bytes or a standard input.
	Body int64
}

// command is host.Command without what does not go over the wire.
type command struct {
	Argv     []string
	HasStdin bool // an empty one is not none
	Env      []string
	Dir      string
	Timeout  time.Duration
	Keep     int64
	EndGroup bool
	Watched  bool // Started is to be told
}

// answer is one frame back. The last one of a call has Done set.
type answer struct {
	Done    bool
	Err     *wireError
	Started int // the process number of the command that has just been started
	Exit    int
	Took    time.Duration
	CPU     time.Duration
	Files   []host.FileInfo
	Address string // of the dialled connection's other end
	Bodies  []int64
}

// local gives times the location that host.Local's have, so that a FileInfo
// from far and one from here compare alike.
func local(files []host.FileInfo) []host.FileInfo {
	for i := range files {
		files[i].ModTime = files[i].ModTime.Local()
	}
	return files
}

// utc is the way back: the helper's time zone is its own affair.
func utc(files ...host.FileInfo) []host.FileInfo {
	for i := range files {
		files[i].ModTime = files[i].ModTime.UTC()
	}
	return files
}
