sub vcl_init {
	new foo = vmod.class(...);
}
