sub vcl_miss {
	if (object needs ESI processing) {
		unset req.http.accept-encoding;
	}
}

sub vcl_backend_response {
	if (object needs ESI processing) {
		set beresp.do_esi = true;
		set beresp.do_gzip = true;
	}
}
