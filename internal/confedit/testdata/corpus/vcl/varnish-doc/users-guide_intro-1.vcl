sub vcl_recv {
	# Remove the cookie header to enable caching
	unset req.http.cookie;
}
