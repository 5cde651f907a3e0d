backend foo { ... };

import digest;

sub vcl_recv {
	if (digest.hmac_sha256("key",req.http.x-data) != req.http.x-data-sig)
	{
		return (synth(401, "Naughty user!"));
	}
}
