sub vcl_init {
    new myset = selector.set();
    myset.add("/foo/");		# element 1
    myset.add("/foo/bar/");		# element 2
    myset.add("/foo/bar/baz/");	# element 3
}

sub vcl_recv {
    # With .hasprefix(), a URL such as /foo/bar/baz/quux matches all
    # 3 elements in the set.
    if (myset.hasprefix(req.url)) {
        # ...
    }
}
