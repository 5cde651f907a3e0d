package main

import (
	"log"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

var staticTypes = map[string]string{
	".css": "text/css;charset=UTF-8",
	".png": "image/png",
	".jpg": "image/jpeg",
}

// sendStaticFile sends a file of public/ and reports whether there was one.
func (s *server) sendStaticFile(w http.ResponseWriter, r *http.Request) bool {
	contentType, ok := staticTypes[path.Ext(r.URL.Path)]
	if !ok {
		return false
	}
	text, err := os.ReadFile(filepath.Join(s.public, filepath.FromSlash(path.Clean("/"+r.URL.Path))))
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if _, err := w.Write(text); err != nil {
		log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return true
}
