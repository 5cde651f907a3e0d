sub vcl_backend_response {
	if (bereq.url ~ "html$") {
		set beresp.do_gzip = true;
	}
}
