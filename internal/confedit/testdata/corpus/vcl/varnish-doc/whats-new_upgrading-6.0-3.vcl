# matches local.ip and remote.ip when the listener is UDS
acl uds {
	"0.0.0.0";
}
