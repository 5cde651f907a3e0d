// Package lab makes disposable Linux hosts on this machine: each with its own
// systemd, SSH server, network interface, boot id and CPU and memory caps. It
// is what cases and tests run on where a change has to survive a reboot, a cut
// network or a power loss. It stands before the pipeline and knows nothing of it.
//
// In: how many hosts and which Debian packages. Out: a Lab with an ssh_config
// that reaches its hosts. How it is made:
//
//  1. Check says whether the machine can (root, namespaces, overlay, programs).
//  2. Base builds a root file system with debootstrap and apt, once for each
//     list of packages; it is kept under the state folder and never changed.
//  3. Up makes a network namespace with a bridge, and for each host an overlay
//     on the base, keys, and a cgroup in every hierarchy.
//  4. A supervisor process per host (`kasoku lab host`, see RunHost) boots the
//     overlay with systemd-nspawn and starts it again when it reboots.
//  5. Down kills by cgroup and removes all of it, whatever state it is in.
//
// The machine's own network is not touched: hosts are reached from inside the
// lab's network namespace, which Dial, Exec and the ssh_config's ProxyCommand
// enter. Everything about a lab stands in files, so any process can work on it.
// Its hosts separate what runs on them; they are no defence against it: do not
// run anything on them that you would not run as root on the machine.
package lab
