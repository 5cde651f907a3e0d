import cookie;

include "devicedetect.vcl";

sub vcl_recv {
    call devicedetect;
    if (req.http.X-UA-Device ~ "bot") {
        set req.hash_ignore_vary = true;
    }
}

sub vcl_req_cookie {
    cookie.parse(req.http.Cookie);
    set req.http.X-AB-Test = cookie.get("ab-test");
    return;
}

sub vcl_deliver {
    unset resp.http.Vary;
}
