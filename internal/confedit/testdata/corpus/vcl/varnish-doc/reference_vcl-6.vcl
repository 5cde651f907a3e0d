sub vcl_recv {
    call pipe_if_local;
}
