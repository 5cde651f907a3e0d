sub vcl_recv {
  if (req.url ~ "^/images") {
    unset req.http.cookie;
  }
}
