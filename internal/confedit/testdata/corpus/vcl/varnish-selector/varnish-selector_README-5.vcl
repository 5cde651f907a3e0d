sub my_quux_sub {
    set req.http.Quux = "xyzzy";
}

sub vcl_init {
    new myset = selector.set();
    myset.add("www.foo.com");
    myset.add("www.bar.com", string="/bar");
    myset.add("www.baz.com", string="/baz", backend=baz_backend);
    myset.add("www.quux.com", string="/quux", backend=quux_backend,
    	        regex="^/quux/([^/]+)/", sub=my_quux_sub);
}
