sub vcl_recv {
  if (req.url ~ "^/this/is/personal/") {
    return(pass);
  }
}
