sub vcl_init {
    new b = directors.round_robin()
    b.add_backend(node1);
}
