sub vcl_init {
    new h = directors.hash();
    h.add_backend(b1, 1);
    h.add_backend(b2, 1);
}

sub vcl_recv {
    set req.backend_hint = h.backend(client.identity);
}
