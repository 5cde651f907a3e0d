// Package packed packs what it answers by writers that it makes in each request.
package packed

import (
	"bytes"
	"net/http"

	"github.com/pierrec/lz4"
	lz4v4 "github.com/pierrec/lz4/v4"
)

type server struct{ log *bytes.Buffer }

// want P12
// want P12
func (s *server) write(r *http.Request) error {
	var text bytes.Buffer
	w := lz4.NewWriter(&text)
	w.Header.BlockMaxSize = 64 << 10
	if _, err := w.Write([]byte(r.URL.Path)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_, err := s.log.Write(text.Bytes())
	return err
}

// want P12
func applied(w http.ResponseWriter, r *http.Request) {
	zw := lz4v4.NewWriter(w)
	if err := zw.Apply(lz4v4.BlockSizeOption(lz4v4.Block64Kb)); err != nil {
		return
	}
	zw.Write([]byte(r.URL.Path))
	zw.Close()
}

// want P12
func plain(w http.ResponseWriter, r *http.Request) {
	zw := lz4v4.NewWriter(w)
	defer zw.Close()
	zw.Write([]byte(r.URL.Path))
}

// want P12 refused: settings
func sometimes(w http.ResponseWriter, r *http.Request) {
	zw := lz4.NewWriter(w)
	if len(r.URL.Path) > 100 {
		zw.BlockMaxSize = 256 << 10
	}
	zw.Close()
}

// want P12 refused: settings
func bySize(w http.ResponseWriter, r *http.Request) {
	zw := lz4.NewWriter(w)
	zw.CompressionLevel = len(r.URL.Path)
	zw.Close()
}

// want P12 refused: kept
func concurrent(w http.ResponseWriter, r *http.Request) {
	zw := lz4.NewWriter(w)
	zw.WithConcurrency(4)
	zw.Close()
}

// want P12 refused: settings
func appliedSometimes(w http.ResponseWriter, r *http.Request) {
	zw := lz4v4.NewWriter(w)
	if r.URL.Path == "/" {
		zw.Apply(lz4v4.BlockSizeOption(lz4v4.Block64Kb))
	}
	zw.Close()
}

// want P12 refused: settings
func appliedSize(w http.ResponseWriter, r *http.Request) {
	zw := lz4v4.NewWriter(w)
	zw.Apply(lz4v4.SizeOption(uint64(len(r.URL.Path))))
	zw.Close()
}

// want P12 refused: settings
func appliedConcurrent(w http.ResponseWriter, r *http.Request) {
	zw := lz4v4.NewWriter(w)
	zw.Apply(lz4v4.ConcurrencyOption(4))
	zw.Close()
}
