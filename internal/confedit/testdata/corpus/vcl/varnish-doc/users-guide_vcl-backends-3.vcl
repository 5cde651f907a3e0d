backend nil none;

sub vcl_recv {
    set req.backend_hint = nil;
    if (! req.backend_hint) {
        return (synth(200, "We get here"));
    }
}
