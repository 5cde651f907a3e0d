sub vcl_recv {
    set req.backend_hint = b;
}

backend b {
    .host = "example.org";
}
