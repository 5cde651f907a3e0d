sub vcl_miss {
      set req.http.X-Listener = local.socket;
}

sub vcl_backend_fetch {
      if (bereq.http.X-Listener == "a0") {
              # ...
      }
}
