# In this example, we set the backend for a fetch based on the most
# specific matching prefix of the URL, i.e. the longest prefix in
# the URL that appears in the set.

sub vcl_init {
    new myset = selector.set();
    myset.add("/foo/",		backend=foo_backend);
    myset.add("/foo/bar/",		backend=bar_backend);
    myset.add("/foo/bar/baz/",	backend=baz_backend);
}

sub vcl_backend_fetch {
    if (myset.hasprefix(bereq.url)) {
        set bereq.backend = myset.backend(select=LONGEST);
    }
}

# This sets baz_backend for /foo/bar/baz/quux
# bar_backend for /foo/bar/quux
# foo_backend for /foo/quux
