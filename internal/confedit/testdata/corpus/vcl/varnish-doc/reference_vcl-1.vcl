import std;
sub vcl_recv {
    std.log("foo");
}
