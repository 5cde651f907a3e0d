sub vcl_recv {
    if (req.http.host ~ "asite.example.com$") {
	return(vcl(siteA));
    }
    if (req.http.host ~ "bsite.example.com$") {
	return(vcl(siteB));
    }
    if (req.http.host ~ "csite.example.com$") {
	return(vcl(siteC));
    }
    // Main site processing ...
}
