backend default {
	.host = "localhost:81";
}
