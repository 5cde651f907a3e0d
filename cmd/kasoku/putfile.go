package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// putFile writes a file whole or not at all. If it exists and may not be
// overwritten, the error is fs.ErrExist.
func putFile(path string, data []byte, overwrite bool) error {
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return fs.ErrExist
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kasoku-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if it was renamed
	_, err = f.Write(data)
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
