sub vcl_backend_response {
     set beresp.grace = 2m;
     set beresp.keep = 8m;
}
