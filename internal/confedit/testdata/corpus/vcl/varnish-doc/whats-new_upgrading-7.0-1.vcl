sub vcl_backend_response {
    if (!bereq.http.range) {
        unset beresp.http.content-range;
    }
}
