package applications

import (
	"fmt"

	"kasoku/internal/remedy/pagecache"
)

// cdnMark is the mark of what is written into the VCL.
const cdnMark = "kasoku-cdn"

// harmless are cookies that only scripts in browsers read: MediaWiki's own
// number of a visit (resources/src/mediawiki.user.js), and those of the usual
// counters of visitors. With any other a request is passed on: sessions, tokens,
// UseCDNCache, and what extensions may look at.
const harmless = `(?:\w*mwuser-sessionId|_ga\w*|_gid|_gat\w*|_pk_\w+\.[\w.]+|__utm\w+)`

// recv stands at the beginning of vcl_recv. PURGE is MediaWiki's alone. Of what
// MediaWiki's index.php answers only pages are looked up that it purges, by
// exactly these URLs: index.php?title=X has an s-maxage, too, and no edit takes
// it out. Varnish itself adds the client to X-Forwarded-For before vcl_recv
// (changes of version 4.0).
func (c *cdn) recv() string {
	return fmt.Sprintf(`if (req.method == "PURGE") {
    if (client.ip !~ kasoku_purgers) {
        return (synth(405, "Method Not Allowed"));
    }
    return (purge);
}
if ((req.method == "GET" || req.method == "HEAD") && req.url ~ {"%[1]s"}) {
    if (req.url !~ {"%[2]s"} || req.http.host != "%[3]s" || %[4]s
        || regsuball(req.http.Cookie, {"(?:^|;\s*)%[5]s=[^;]*"}, "") ~ {"[^;\s]"}) {
        return (pass);
    }
    unset req.http.Cookie;
    return (hash);
}`, c.all, c.pages, c.host, pagecache.Asking(c.in.Evidence.Load.TellingHeaders), harmless)
}

// response stands at the beginning of vcl_backend_response. MediaWiki's answers
// for a cache are told by its form of Cache-Control (OutputPage::sendCacheControl).
// Those with the life of $wgCdnMaxAge are at a URL that it purges, which it has
// compared byte by byte (WebRequest::matchURLForCDN): another spelling of the
// same title has another. No other is kept, and no cache behind Varnish,
// which gets no PURGE, may keep any. Nothing that has expired is sent.
func (c *cdn) response() string {
	return fmt.Sprintf(`if (beresp.http.Cache-Control ~ {"^s-maxage=\d+, must-revalidate, max-age=0$"}) {
    if (beresp.http.Cache-Control !~ "^s-maxage=%[1]d," || beresp.status != 200 || bereq.uncacheable || bereq.http.Cookie
        || bereq.url !~ {"%[2]s"} || bereq.http.host != "%[3]s" || beresp.http.Set-Cookie || beresp.http.Vary ~ {"\*"}) {
        set beresp.ttl = 120s;
        set beresp.uncacheable = true;
    } else if (beresp.ttl > %[4]ds) {
        set beresp.ttl = %[4]ds;
    }
    set beresp.grace = 0s;
    set beresp.keep = 0s;
    set beresp.http.Cache-Control = "s-maxage=0, must-revalidate, max-age=0";
%[5]s
    return (deliver);
}`, c.life, c.pages, c.host, c.keep, pagecache.Indent(pagecache.ForwardedVary))
}
