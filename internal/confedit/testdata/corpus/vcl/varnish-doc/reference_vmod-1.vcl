import std;

sub vcl_deliver {
	set resp.http.foo = std.toupper(req.url);
}
