sub vcl_init {
    new myset = selector.set();
    myset.add("foo");
    myset.add("bar");
    myset.add("baz");
    myset.create_stats();
}
