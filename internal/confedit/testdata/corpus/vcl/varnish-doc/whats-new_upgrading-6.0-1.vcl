backend my_uds_backend {
      .path = "/path/to/backend.sock";
}
