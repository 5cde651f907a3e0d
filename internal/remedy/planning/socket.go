package planning

import (
	"fmt"
	"path"
)

// socketName is the longest path of a unix socket, in bytes: sun_path holds one
// more, a zero (unix(7)).
const socketName = 107

// SocketBacklog is how many connections may wait at a unix socket: the default of
// net.core.somaxconn since Linux 5.4, which cuts it. A full queue makes a TCP
// client wait, but a client of a unix socket fails at once (unix(7), EAGAIN), so
// the queue must be long.
const SocketBacklog = 4096

// SocketPath is where Kasoku has a server listen in a folder: at
// "kasoku-NAME.sock".
func SocketPath(dir, name string) (string, error) {
	p := path.Join(dir, "kasoku-"+name+".sock")
	if len(p) > socketName {
		return "", fmt.Errorf("%s is too long for a socket's name (%d bytes)", p, socketName)
	}
	return p, nil
}
