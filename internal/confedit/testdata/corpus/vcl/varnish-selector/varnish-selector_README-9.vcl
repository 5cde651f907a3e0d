# Due to the use of resp.http.*, this subroutine may only be invoked
# in vcl_deliver or vcl_synth, as documented in vcl-var(7). Note
# that subroutine definitions must appear before vcl_init to
# permitted for the sub parameter in .add().
sub resp_sub {
    set resp.http.Call-Me = "but only in deliver or synth";
}

sub vcl_init {
    new myset = selector.set();
    myset.add("/foo", sub=resp_sub);
    myset.add("/foo/bar", sub=some_other_sub);
    # ...
}

sub vcl_deliver {
    if (resp_sub.hasprefix(req.url)) {
    	 call resp_sub.subroutine(select=LONGEST);
    }
}
