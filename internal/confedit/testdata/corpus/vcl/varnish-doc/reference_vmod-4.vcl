sub somewhere {
	foo.method(...);
}
