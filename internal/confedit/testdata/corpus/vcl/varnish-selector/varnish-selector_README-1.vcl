import selector;

# Assume that you have defined these subroutines to execute logic
# in vcl_recv for URLs beginning with /foo/, /bar/ or /baz/.
sub foo { # ...
}

sub bar { # ...
}

sub baz { # ...
}

sub vcl_init {

    # Requests for URLs with these prefixes will be sent to the
    # associated backend. In vcl_recv, the associated subroutine
    # will be called.
    new url_prefix = selector.set();
    url_prefix.add("/foo/", backend=foo_backend, sub=foo);
    url_prefix.add("/bar/", backend=bar_backend, sub=bar);
    url_prefix.add("/baz/", backend=baz_backend, sub=baz);

    # For requests with these Host headers, generate a redirect
    # response, using the associated string to construct the
    # Location header, and the integer to set the response code.
    new redirect = selector.set();
    redirect.add("www.foo.com", string="/foo", integer=301);
    redirect.add("www.bar.com", string="/bar", integer=302);
    redirect.add("www.baz.com", string="/baz", integer=303);
    redirect.add("www.quux.com", string="/quux", integer=307);

    # Requests for these URLs are rewritten by altering the
    # query string, using the associated regex for a
    # substitution operation, each of which removes a
    # parameter.
    new rewrite = selector.set();
    rewrite.add("/alpha/beta", regex="(\?.*)\bfoo=[^&]+&?(.*)$");
    rewrite.add("/delta/gamma", regex="(\?.*)\bbar=[^&]+&?(.*)$");
    rewrite.add("/epsilon/zeta", regex="(\?.*)\bbaz=[^&]+&?(.*)$");
}

sub vcl_recv {

    # .match() returns true if the Host header exactly matches
    # one of the strings in the set.
    if (redirect.match(req.http.Host)) {
        # .string() returns the string added to the set above with
        # the 'string' parameter, for the string that was
        # matched. We use it to construct a Location header, which
        # will be retrieved in vcl_synth below to construct the
        # redirect response.
        #
        # .integer() returns the integer added to the set with the
        # 'integer' parameter, for the string that was matched. We
        # use it as the argument of synth() to set the response
        # status (one of the redirect status codes).
        set req.http.Location
              = "http://other.com" + redirect.string() + req.url;
        return (synth(redirect.integer()));
    }

    # If the URL matches the rewrite set, change the query string by
    # applying a substitution using the associated regex (removing a
    # query parameter).
    if (rewrite.match(req.url)) {
        set req.url = rewrite.sub(req.url, "\1\2");
    }

    # If the URL has a prefix in the url_prefix set, call the
    # associated subroutine.
    if (url_prefix.hasprefix(req.url)) {
        call url_prefix.subroutine();
    }
}

sub vcl_synth {

    # We come here when Host matched the redirect set in vcl_recv
    # above. Set the Location response header from the request header
    # set in vcl_recv.
    if (req.http.Location && resp.status >= 301 && resp.status <= 307) {
        set resp.http.Location = req.http.Location;
        return (deliver);
    }
}

sub vcl_backend_fetch {

    # The .hasprefix() method returns true if the URL has a prefix
    # in the set.
    if (url_prefix.hasprefix(bereq.url)) {
        # .backend() returns the backend associated with the
        # string in the set that was matched as a prefix.
        set bereq.backend = url_prefix.backend();
    }
}
