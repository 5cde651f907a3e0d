# In this example we match the URL prefix, and if a match is found,
# rewrite the URL by exchanging path components as indicated.
sub vcl_init {
    new rewrite = selector.set();
    rewrite.add("/foo/", regex="^(/foo)/([^/]+)/([^/]+)/");
    rewrite.add("/foo/bar/", regex="^(/foo/bar)/([^/]+)/([^/]+)/");
    rewrite.add("/foo/bar/baz/", regex="^(/foo/bar/baz)/([^/]+)/([^/]+)/");
}

if (rewrite.hasprefix(req.url)) {
   set req.url = rewrite.sub(req.url, "\1/\3/\2/", select=LAST);
}

# /foo/1/2/* is rewritten as /foo/2/1/*
# /foo/bar/1/2/* is rewritten as /foo/bar/2/1/*
# /foo/bar/baz/1/2/* is rewritten as /foo/bar/baz/2/1/*
