import blob;

sub vcl_backend_fetch {
    # Send the transaction hash to the backend as a hex string
    set bereq.http.Hash = blob.encode(HEX, blob=bereq.hash);
}

sub vcl_deliver {
    # Send the hash in a response header as a base64 string
    set resp.http.Hash = blob.encode(BASE64, blob=req.hash);
}
