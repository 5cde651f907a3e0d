import directors as dir;

sub vcl_init {
    new rr = dir.round_robin();
}
