package accesslog

import (
	"strings"
	"sync"
	"time"
)

// products are formats that one program writes, by its manual; units are those
// that the manual names. Of two that fit a line the first counts, so the longer
// stand first.
var products = []product{
	// AWS: Elastic Load Balancing, "Access logs for your Application Load
	// Balancer", "… Classic Load Balancer" and "… Network Load Balancer". The
	// three times of a request are seconds, -1 if the target was not reached;
	// further values come behind from time to time.
	{name: "aws-alb", connections: true, text: `$alb_type $time_iso8601 app/$elb $elb_client $elb_target ` + elbTimes +
		` $elb_code $target_status_code $received_bytes $elb_sent "$request" "$http_user_agent" $ssl_cipher $ssl_protocol $rest`},
	{name: "aws-elb", connections: true, text: `$time_iso8601 $elb $elb_client $elb_target ` + elbTimes +
		` $elb_code $backend_status_code $received_bytes $elb_sent "$request" $rest`},
	{name: "aws-nlb", connections: true, text: `tls $version $time_iso8601 net/$elb $listener $elb_client $elb_target $nlb_time $tls_handshake_time $received_bytes $elb_sent $tls_alert $rest`},
	// AWS: API Gateway, "Set up CloudWatch logging", the common log format.
	{name: "aws-api-gateway", text: `$remote_addr $caller $remote_user [$time_local]"$request" $status $response_bytes $request_id`},
	// AWS: CloudFront, "Use real-time access logs": all fields, in their order.
	{name: "cloudfront-realtime", plain: true, start: true, text: "$msec\t$elb_client\t$time_to_first_byte\t$elb_code\t$elb_sent\t$request_method\t$scheme\t$distribution\t$uri\t$received_bytes\t" +
		"$edge_location\t$edge_request_id\t$host\t$request_time\t$server_protocol\t$ip_version\t$http_user_agent\t$http_referer\t$cookie\t$args\t$edge_result\t$rest"},

	// AWS: "Amazon S3 server access log format": the total time is milliseconds.
	{name: "aws-s3", start: true, text: `$owner $bucket [$time_local] $elb_client $requester $request_id $operation $key "$request" $status $error_code $response_bytes $object_size ` +
		`$millis $turnaround "$http_referer" "$http_user_agent" $rest`},

	// Squid, logformat squid, and Traffic Server's squid format: milliseconds, and the
	// result joined to the status. Squid pads the time.
	{name: "squid", loose: true, connections: true, text: `$msec $millis $remote_addr $squid_result/$elb_code $elb_sent $request_method $request_uri $remote_user $squid_peer $rest`},

	// Nginx Proxy Manager, its log-proxy.conf; no times.
	{name: "nginx-proxy-manager", text: `[$time_local] $upstream_cache_status $upstream_status $status - $request_method $scheme $host "$request_uri" ` +
		`[Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio] [Sent-to $server] "$http_user_agent" "$http_referer"`},

	// ingress-nginx, "Log format": upstreaminfo, its default.
	{name: "ingress-nginx", text: combined + ` $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] ` +
		`$upstream_addr $upstream_response_length $upstream_response_time $upstream_status $rest`},
	{name: "ingress-nginx", text: combined + ` $request_length $request_time [$proxy_upstream_name] ` +
		`$upstream_addr $upstream_response_length $upstream_response_time $upstream_status $rest`}, // before 0.23

	// Envoy, "Access logging": the default, and Istio's ("Envoy Access Logs").
	// The times are milliseconds.
	{name: "istio", start: true, connections: true, text: `[$time_iso8601] "$request" $envoy_code $response_flags $response_code_details $connection_termination_details "$upstream_transport_failure_reason" ` + envoyRest},
	{name: "istio", start: true, connections: true, text: `[$time_iso8601] "$request" $envoy_code $response_flags "$mixer_status" ` + envoyRest}, // before 1.6
	{name: "istio", start: true, connections: true, text: `[$time_iso8601] "$request" $envoy_code $response_flags "$mixer_status" "$upstream_transport_failure_reason" ` + envoyRest},
	{name: "envoy", start: true, connections: true, text: `[$time_iso8601] "$request" $envoy_code $response_flags ` + envoyRest},

	{name: "envoy", start: true, connections: true, text: `ACCESS [$time_iso8601] "$request" $envoy_code $response_flags ` + envoyRest}, // Emissary, Ambassador

	// Traefik, "Access logs": common. Milliseconds.
	{name: "traefik", start: true, text: apacheText + ` $requests "$router" "$server" ${millis}ms`},
	{name: "traefik", start: true, text: apacheText + ` $requests $router $server ${millis}ms`}, // with "-" for both

	// HAProxy, "option httplog clf" (8.2.3): milliseconds.
	{name: "haproxy-clf", start: true, text: apacheText + ` $client_port $time_millis "$frontend" "$backend" "$server" $tq $tw $haproxy_connect $haproxy_response $haproxy_time $haproxy_state $rest`},

	// HAProxy 1.5 writes backslashes.
	{name: "haproxy-clf", start: true, plain: true, text: apacheCommonText + ` \"\" \"\" $client_port \$time_millis "$frontend" "$backend" "$server" \$tq $tw $haproxy_connect $haproxy_response $haproxy_time $haproxy_state $rest`},

	// Apache, "%T/%D" behind the agent, as many handbooks have it: whole seconds,
	// and microseconds.
	{name: "apache-times", start: true, text: apacheText + ` **$whole_seconds/$micros**`, least: leastMicros},
	{name: "apache-times", start: true, text: apacheText + ` $whole_seconds/$micros`, least: leastMicros},
	{name: "apache-times", start: true, text: apacheCommonText + ` $whole_seconds/$micros`, least: leastMicros},

	// Varnish, varnishncsa(1) with -F: %D is microseconds, time_firstbyte seconds
	// with six decimals, which are not more than the request took. Without the word
	// for a hit or miss the numbers may be anyone's.
	{name: "varnish", start: true, late: true, text: apacheText + ` $micros $firstbyte $hitmiss`, least: leastMicros},
	{name: "varnish", start: true, late: true, text: apacheText + ` $micros $hitmiss`, least: leastMicros},
	{name: "varnish", start: true, late: true, text: apacheText + ` $firstbyte $hitmiss`},
	{name: "varnish", start: true, late: true, text: apacheText + ` "$hitmiss" $micros`, least: leastMicros},
	{name: "varnish", start: true, late: true, text: apacheText + ` $hitmiss $micros`, least: leastMicros},
	{name: "varnish", start: true, late: true, text: apacheText + ` $hitmiss`},

	// Rack::CommonLogger, as Puma's: seconds with four decimals.
	{name: "rack", text: `$remote_addr - $remote_user [$time_local] "$request" $status $response_bytes $rack_time`, guessed: true, most: slowestMedian * time.Second},

	// PHP-FPM, access.format: its default, and the one of www.conf, where
	// %{milli}d is milliseconds; a path and a percentage tell them.
	{name: "php-fpm", start: true, text: `$remote_addr - $remote_user $time_local "$request" $status $script $micros $memory $cpu`}, // %{micro}d
	{name: "php-fpm (www.conf)", start: true, text: `$remote_addr - $remote_user $time_local "$request" $status $script $fpm_millis $memory $cpu`,
		note: "request times are read as milliseconds, as PHP-FPM's www.conf has them (%{milli}d)"},
	{name: "php-fpm", start: true, text: `$remote_addr - $remote_user $time_local "$request" $status`},

	// lighttpd, accesslog.format: its default has the host in the second place.
	{name: "lighttpd", start: true, late: true, text: `$remote_addr $host $remote_user [$time_local] "$request" $status $response_bytes "$http_referer" "$http_user_agent"`},

	// gin, Logger: Go's durations.
	{name: "gin", loose: true, text: `[GIN] $year/$month/$day - $hour:$minute:$second | $status | $go_time | $remote_addr | $request_method "$request_uri"`},
	{name: "gin", loose: true, text: `[GIN] $year/$month/$day - $hour:$minute:$second | $status | $go_time | $remote_addr | $request_method $request_uri`},
	// chi, middleware.Logger.
	{name: "chi", loose: true, start: true, text: `$year/$month/$day $hour:$minute:$second "$request" from $remote_addr - $status ${size}B in $go_time`},
	{name: "chi", loose: true, start: true, text: `$year/$month/$day $hour:$minute:$second [$request_id] "$request" from $remote_addr - $status ${size}B in $go_time`},
	// fiber, middleware/logger: the day is not logged.
	{name: "fiber", loose: true, text: `$clock_time | $status | $go_time | $remote_addr | $request_method | $request_uri | $error`},

	// morgan: tiny, dev, short, and its README's examples; combined and common
	// with :response-time. Milliseconds.
	{name: "morgan", loose: true, text: `$request_method $request_uri $status $response_bytes - $millis ms`},
	{name: "morgan", loose: true, text: `$request_method $request_uri $status $millis ms - $response_bytes`},
	{name: "morgan", loose: true, text: `$remote_addr $remote_user $request_method $request_uri HTTP/$protocol $status $response_bytes - $millis ms`},
	{name: "morgan", loose: true, text: `$remote_addr $request_method $request_uri $status $response_bytes - $millis ms`},
	{name: "morgan", loose: true, text: `$time_iso8601 $request_method $request_uri $status $response_bytes - $millis ms`},
	{name: "morgan", loose: true, text: `$time_iso8601 $remote_addr $request_method $request_uri $status $response_bytes - $millis ms`},
	{name: "morgan", loose: true, text: `$time_iso8601 $request_method $request_uri $status $millis ms - $response_bytes`},
	{name: "morgan", loose: true, text: `$time_iso8601 $remote_addr $request_method $request_uri $status $millis ms`},
	{name: "morgan", text: apacheText + ` - $millis ms`},
	{name: "morgan", text: apacheText + ` $millis ms`},
	{name: "morgan", text: apacheCommonText + ` - $millis ms`},
	{name: "morgan", text: apacheCommonText + ` $millis ms`},

	// uvicorn's access log, with and without its level; no times.
	{name: "uvicorn", loose: true, text: `INFO: $remote_addr - "$request" $status $rest`},
	{name: "uvicorn", loose: true, text: `$remote_addr - "$request" $status $rest`},
	// Django's runserver, and Werkzeug's (Flask's) server; no times.
	{name: "django", loose: true, start: true, text: `[$day/$month_name/$year $hour:$minute:$second] "$request" $status $size`},
	{name: "werkzeug", loose: true, start: true, text: `$remote_addr - - [$day/$month_name/$year $hour:$minute:$second] "$request" $status $size`},
}

// leastMicros: whole seconds (%T) of requests are below 100, microseconds not all.
const leastMicros = 100 * time.Microsecond

const (
	elbTimes  = `$elb_part $elb_target_part $elb_part`
	envoyRest = `$received_bytes $elb_sent $envoy_time $envoy_upstream "$http_x_forwarded_for" "$http_user_agent" "$request_id" "$host" "$upstream_host" $rest`

	apacheCommonText = `$remote_addr $ident $remote_user [$time_local] "$request" $status $response_bytes`
	apacheText       = apacheCommonText + ` "$http_referer" "$http_user_agent"`
)

// productPlaces are values that nginx has no variable for, or writes
// otherwise.
var productPlaces = map[string]op{
	"elb_client":      {place: place{kind: kindClient}},
	"elb_code":        {place: place{kind: kindCode}},
	"elb_sent":        {place: place{kind: kindSize}},
	"elb_part":        {place: place{kind: kindTimePart, unit: seconds}},
	"elb_target_part": {place: place{kind: kindUpstreamPart, unit: seconds}},
	"nlb_time":        {place: place{kind: kindGoTime, unit: time.Millisecond}},

	"envoy_code":     {place: place{kind: kindCode}},
	"envoy_time":     {place: place{kind: kindGoTime, unit: time.Millisecond}},
	"envoy_upstream": {place: place{kind: kindGoUpstream, unit: time.Millisecond}},

	"haproxy_time":     {place: place{kind: kindGoTime, unit: time.Millisecond}},
	"haproxy_connect":  {place: place{kind: kindSkip}},
	"haproxy_response": {place: place{kind: kindGoUpstream, unit: time.Millisecond}},
	"haproxy_state":    {place: place{kind: kindOther}},

	"millis":        {place: place{kind: kindGoTime, unit: time.Millisecond}},
	"micros":        {place: place{kind: kindWholeTime, unit: time.Microsecond}},
	"whole_seconds": {place: place{kind: kindWholeTime, unit: seconds}},
	"fpm_millis":    {place: place{kind: kindGoTime, unit: time.Millisecond}},
	"go_time":       {place: place{kind: kindGoTime}},
	"script":        {place: place{kind: kindScript, needed: true}},
	"cpu":           {place: place{kind: kindPercent, needed: true}},
	"rack_time":     {place: place{kind: kindRequestTime, decimals: 4, needed: true}},

	"firstbyte": {place: place{kind: kindUpstreamTime, decimals: 6}},
	"hitmiss":   {place: place{kind: kindHitMiss, needed: true}},

	"response_bytes": {place: place{kind: kindBytesDash}},
	"size":           {place: place{kind: kindSize}},

	"year": {place: place{kind: kindYear}, width: 4}, "month": {place: place{kind: kindMonth}, width: 2}, "day": {place: place{kind: kindDay}, width: 2},
	"month_name": {place: place{kind: kindMonthName}, width: 3},
	"hour":       {place: place{kind: kindHour}, width: 2}, "minute": {place: place{kind: kindMinute}, width: 2}, "second": {place: place{kind: kindSecond}, width: 2},
}

// productFormats are the table's, compiled once; late are those that stand
// behind the known formats.
var productFormats = sync.OnceValues(func() (early, late []*Format) {
	byName := map[string][]product{}
	var names []string
	for _, p := range products {
		if err := p.compile(); err != nil {
			panic(err) // the table is wrong; TestShortLines compiles all of it
		}
		if byName[p.name] == nil {
			names = append(names, p.name)
		}
		byName[p.name] = append(byName[p.name], p)
	}
	for _, name := range names {
		if f := joinProducts(name, byName[name]); byName[name][0].late {
			late = append(late, f)
		} else {
			early = append(early, f)
		}
	}
	return early, late
})

// productNamed is the format of a program; nil: there is none of the name.
func productNamed(name string) *Format {
	early, late := productFormats()
	for _, f := range append(early[:len(early):len(early)], late...) {
		if strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return nil
}
