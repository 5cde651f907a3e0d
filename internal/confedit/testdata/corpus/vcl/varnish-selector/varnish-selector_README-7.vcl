# Match domains to the Host header, and append "www." where
# necessary.
sub vcl_init {
    new domains = selector.set();
    domains.add("example.com", bool=true);
    domains.add("www.example.net", bool=false);
    domains.add("example.org", bool=true);
    domains.add("www.example.edu", bool=false)
}

sub vcl_recv {
    if (domains.match(req.http.Host)) {
       if (domains.bool()) {
          set req.http.Host = "www." + req.http.Host;
       }
    }
}
