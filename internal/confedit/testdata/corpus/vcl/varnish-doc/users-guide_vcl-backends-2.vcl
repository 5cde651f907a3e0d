backend a none;
backend b none;

sub vcl_recv {
    set req.backend_hint = a;
    if (req.backend_hint == b) {
        return (synth(200, "this is true"));
    }
}
