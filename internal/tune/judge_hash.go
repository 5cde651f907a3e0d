package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"kasoku/internal/host"
)

// hashes remembers the hash of files that nobody has touched since: a program
// or a pool of many megabytes is looked at some forty times in an experiment.
var hashes = hashCache{known: map[string]host.Hash{}}

type hashCache struct {
	mu    sync.Mutex
	known map[string]host.Hash
}

// of returns the hash of what in holds; touched is inode and ctime, which no
// call can set (inode(7)).
func (c *hashCache) of(touched string, size int64, in io.Reader) (host.Hash, error) {
	key := fmt.Sprintf("%s %d", touched, size)
	c.mu.Lock()
	h, ok := c.known[key]
	c.mu.Unlock()
	if ok && touched != "" {
		return h, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	h = host.Hash(hex.EncodeToString(sum.Sum(nil)))
	c.mu.Lock()
	c.known[key] = h
	c.mu.Unlock()
	return h, nil
}
