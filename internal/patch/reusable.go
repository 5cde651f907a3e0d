package patch

import (
	"go/types"
	"maps"
	"slices"
	"strings"
)

// reusable is a type whose values can be used again after their Reset, which makes them as
// if they were new.
type reusable struct {
	noun string // "gzip writer"
	path string // of its package
	typ  string // its name there
	// makers are the functions of its package that make one.
	makers map[string]maker
	// methods that may be called of it; true: what they give shares its memory.
	methods map[string]bool
	// fixed: Reset keeps what its fields or Apply have set, or its buffers are made for it:
	// only what is the same each time may be set, each time.
	fixed bool
	// other: used again it may pack the same content in other bytes.
	other bool
	// allocates are further functions, as profiles name them, that are gone with its making.
	allocates []string
}

// maker is how one is made.
type maker struct {
	// constant arguments after the first one, which is what it writes to or reads from;
	// none: there is no first one either.
	args int
	// fails: it gives an error too, which is nil where the arguments are right.
	fails bool
	// resetFails: the error comes from what it reads, and Reset gives it as well.
	resetFails bool
	// nothing: it is made of nothing, and Reset takes nothing.
	nothing bool
}

var (
	writes      = map[string]bool{"Write": false, "Flush": false, "Close": false, "Reset": false}
	buffered    = with(writes, "WriteString", "WriteByte", "WriteRune", "Buffered", "Size", "ReadFrom")
	hashes      = map[string]bool{"Write": false, "Sum": false, "Reset": false, "Size": false, "BlockSize": false}
	bufferReads = map[string]bool{"Bytes": true, "Next": true, "Read": false, "ReadByte": false, "ReadRune": false, "ReadString": false, "ReadBytes": false,
		"Write": false, "WriteString": false, "WriteByte": false, "WriteRune": false, "Len": false, "String": false, "Reset": false, "Truncate": false,
		"ReadFrom": false, "WriteTo": false, "Grow": false, "UnreadByte": false, "UnreadRune": false}
	bufferedReads = map[string]bool{"Peek": true, "ReadSlice": true, "ReadLine": true, "Read": false, "ReadByte": false, "ReadRune": false, "ReadString": false,
		"ReadBytes": false, "UnreadByte": false, "UnreadRune": false, "Discard": false, "Buffered": false, "Size": false, "WriteTo": false}
)

func with(methods map[string]bool, more ...string) map[string]bool {
	out := maps.Clone(methods)
	for _, m := range more {
		out[m] = false
	}
	return out
}

// reusables are the types that are known; what Reset does stands in their documentation.
// go test -run Reused compares what those write that are at hand.
var reusables = slices.Concat(
	packers("compress"), packers("github.com/klauspost/compress"),
	[]reusable{
		{noun: "lz4 writer", path: "github.com/pierrec/lz4", typ: "Writer", makers: map[string]maker{"NewWriter": {}}, methods: with(writes, "ReadFrom"), fixed: true, other: true,
			allocates: []string{"github.com/pierrec/lz4.(*Writer).writeHeader"}},
		{noun: "lz4 writer", path: "github.com/pierrec/lz4/v4", typ: "Writer", makers: map[string]maker{"NewWriter": {}}, methods: with(writes, "ReadFrom", "Apply"), fixed: true},
		{noun: "brotli writer", path: "github.com/andybalholm/brotli", typ: "Writer", makers: map[string]maker{"NewWriter": {}, "NewWriterLevel": {args: 1}}, methods: writes,
			allocates: []string{"github.com/andybalholm/brotli.encoderInitState", "github.com/andybalholm/brotli.hasherSetup"}},
		{noun: "buffered writer", path: "bufio", typ: "Writer", makers: map[string]maker{"NewWriter": {}, "NewWriterSize": {args: 1}}, methods: buffered},
		{noun: "buffered reader", path: "bufio", typ: "Reader", makers: map[string]maker{"NewReader": {}, "NewReaderSize": {args: 1}}, methods: bufferedReads},
		{noun: "buffer", path: "bytes", typ: "Buffer", methods: bufferReads, allocates: []string{"bytes.(*Buffer).grow", "bytes.growSlice"}},
		{noun: "MD5 hash", path: "crypto/md5", makers: map[string]maker{"New": {nothing: true}}, methods: hashes},
		{noun: "SHA-1 hash", path: "crypto/sha1", makers: map[string]maker{"New": {nothing: true}}, methods: hashes},
		{noun: "SHA-256 hash", path: "crypto/sha256", makers: map[string]maker{"New": {nothing: true}, "New224": {nothing: true}}, methods: hashes},
		{noun: "SHA-512 hash", path: "crypto/sha512", makers: map[string]maker{"New": {nothing: true}, "New384": {nothing: true}}, methods: hashes},
	})

// packers are gzip, zlib and flate of a library with the functions of the standard one.
func packers(path string) []reusable {
	level := map[string]maker{"NewWriter": {}, "NewWriterLevel": {args: 1, fails: true}}
	return []reusable{
		{noun: "gzip writer", path: path + "/gzip", typ: "Writer", makers: level, methods: writes, allocates: []string{path + "/flate.NewWriter"}},
		{noun: "zlib writer", path: path + "/zlib", typ: "Writer", makers: level, methods: writes, allocates: []string{path + "/flate.NewWriter"}},
		{noun: "flate writer", path: path + "/flate", typ: "Writer", makers: map[string]maker{"NewWriter": {args: 1, fails: true}}, methods: writes},
		{noun: "gzip reader", path: path + "/gzip", typ: "Reader", makers: map[string]maker{"NewReader": {resetFails: true}}, methods: map[string]bool{"Read": false, "Close": false, "Multistream": false},
			allocates: []string{path + "/flate.NewReader"}},
	}
}

// made are the functions in whose time the making of one is, as profiles name them.
func (r *reusable) made(maker string) []string {
	out := slices.Clone(r.allocates)
	if maker != "" {
		out = append(out, r.path+"."+maker)
	}
	return out
}

// makes is what a function of a package makes; nil if it is not in the table.
func makes(path, name string) (*reusable, maker) {
	for i := range reusables {
		if m, ok := reusables[i].makers[name]; ok && reusables[i].path == path {
			return &reusables[i], m
		}
	}
	return nil, maker{}
}

// reusableType is the entry of a type, or of what it points to.
func reusableType(t types.Type) *reusable {
	for i := range reusables {
		if r := &reusables[i]; r.typ != "" && named(t, r.path, r.typ) {
			return r
		}
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && pathOf(n.Obj()) == "hash" && strings.HasPrefix(n.Obj().Name(), "Hash") {
		return &reusable{path: "hash", methods: hashes}
	}
	return nil
}
