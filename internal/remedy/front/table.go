package front

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "apache.nginx-in-front", Title: "nginx in front of Apache", Measures: []string{"W02", "W10", "W12", "I22"}, Rules: []string{"apache.front"},
		Reason: "Of prefork each connection of a client, slow or idle, holds a process with a whole PHP in it. nginx holds connections for some kilobytes each and asks Apache over a few of its own. It can keep pages that are the same for all strangers, which Apache has no safe way to; where the evidence is about pages, it does so at once. It can pass requests to several hosts; where a spare host would take work off a busy one, it does so at once, too. Clients and the application see the same addresses and headers as before (mod_remoteip), except SERVER_ADDR and REMOTE_PORT. Both servers write their access logs.",
		Source: "nginx documentation, ngx_http_proxy_module, ngx_http_upstream_module (\"keepalive\"); Apache HTTP Server documentation, mod_remoteip, \"MPM prefork\"",
		Reach:  0.5, Plan: plan, Test: "cases/remedies/front/front_test.go:TestNginxInFront",
		Command: "apt-get install nginx; rm /etc/nginx/sites-enabled/default; systemctl start nginx; `Listen 127.0.0.1:8080`, `<VirtualHost *:80 127.0.0.1:8080>`, `RemoteIPHeader X-Real-IP`, `RemoteIPInternalProxy 127.0.0.1`, `a2enmod remoteip`, `systemctl restart apache2`; a server in /etc/nginx/conf.d with `proxy_pass` to it; `nginx -s reload`; see [nginx in front of Apache](../../explanation/apache-front.md)",
		Undo:    "nginx's site goes and nginx is reloaded (stopped, if it did not run), Apache's files and links come back and it is restarted; then nginx's unit is stopped and the package is removed with all that it brought",
		Effect:  "with a second host +94.6 % (docs/measured/wiki.md tells the commands); on one host no effect shown on cases/wiki (`make case-wiki`, docs/measured/wiki.md), put back",
	},
}
