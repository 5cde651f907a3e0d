sub vcl_recv {
	std.set_ip_tos(32);
}
