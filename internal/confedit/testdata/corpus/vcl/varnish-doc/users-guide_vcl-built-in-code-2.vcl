sub vcl_recv {
    # loaded code for vcl_recv
    # built-in code for vcl_recv
}
