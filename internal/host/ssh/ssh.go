// Package ssh is a host that is reached by the system's ssh.
package ssh

// Options say how a host is reached.
type Options struct {
	Name        string // of the host in kasoku.yaml
	Destination string // as ssh(1) takes it
	ConfigFile  string // ssh -F; "": the user's own
	Sudo        bool   // the helper runs by "sudo -n"
}
