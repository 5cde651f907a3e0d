sub vcl_recv {
    # loaded code for vcl_recv
}
