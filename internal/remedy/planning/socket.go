package planning

import (
	"fmt"
	"path"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
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

// FolderMode lets everybody of the host connect, as at a port of loopback.
const FolderMode = 0o755

// LastingFolders is where folders for sockets are made that stay over reboots, for
// processes that no unit starts: whoever starts one may not make folders for it.
const LastingFolders = "/var/lib"

// SocketFolder makes a folder in parent in which the service's user may make its
// socket each time it starts; user is that user. Only root can, and the user must be
// known.
func SocketFolder(in Input, svc *stack.Service, parent string) (folder change.Change, user evidence.ProcessUser, err error) {
	user, known := in.Snapshot.Users[HostOf(svc)+"/"+svc.Name]
	switch {
	case !MachineOf(in, svc).Root:
		return folder, user, fmt.Errorf("only root may make a folder for the socket in %s", parent)
	case !known:
		return folder, user, fmt.Errorf("the user of %s's workers is not known, so a folder cannot be handed to it", svc.Name)
	}
	dir := path.Join(parent, "kasoku-"+strings.ToLower(svc.Name))
	return change.Change{Kind: change.KindDir, Host: HostOf(svc), Path: dir, Why: "The socket of " + svc.Name + " lies there.",
		After:   &change.FileState{Mode: FolderMode, UID: user.UID, GID: user.GID},
		Command: fmt.Sprintf("install -d -m 755 -o %s -g %s %s", NameOr(user.Name, user.UID), NameOr(user.Group, user.GID), dir)}, user, nil
}
