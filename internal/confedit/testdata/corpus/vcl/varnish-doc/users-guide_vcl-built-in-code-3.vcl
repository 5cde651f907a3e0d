sub vcl_req_cookie {
    return;
}
