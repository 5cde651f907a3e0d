vcl 4.0;

backend default {
    .host = "www.varnish-cache.org";
    .port = "80";
}
