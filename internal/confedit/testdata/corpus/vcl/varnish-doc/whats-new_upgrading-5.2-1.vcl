sub my-sub {
    new my-obj = my_vmod.my_constuctor(storage.my-store);
}

sub vcl_init {
    call my-sub;
}
