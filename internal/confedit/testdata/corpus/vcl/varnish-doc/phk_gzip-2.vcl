sub vcl_backend_response {
	set beresp.do_esi = true;
}
