package accesslog

import (
	"maps"
	"time"
)

// Times of JSON keys whose program fixes the unit. Go's durations are printed
// as such, or as a number of the unit.
var (
	goNanos  = place{kind: kindGoTime, unit: time.Nanosecond}
	goMillis = place{kind: kindGoTime, unit: time.Millisecond}
	goSecs   = place{kind: kindGoTime, unit: time.Second}

	upNanos  = place{kind: kindGoUpstream, unit: time.Nanosecond, positive: true}
	upMillis = place{kind: kindGoUpstream, unit: time.Millisecond}
	upSecs   = place{kind: kindGoUpstream, unit: time.Second}
)

// dialects are found in this order.
var dialects = []dialect{
	// labstack/echo, middleware.Logger: latency is nanoseconds, latency_human
	// the same for people.
	{name: "echo", marks: []string{"latency", "latency_human", "uri"}, places: map[string]place{
		"latency": goNanos, "latency_human": {kind: kindSkip}, "uri": {kind: kindTarget}, "error": {kind: kindSkip}}},
	// Serilog.AspNetCore, request logging, in its compact form: Elapsed is
	// milliseconds.
	{name: "serilog", marks: []string{"RequestMethod", "RequestPath", "StatusCode", "Elapsed"}, places: serilogPlaces},
	{name: "serilog", marks: []string{"Properties.RequestMethod", "Properties.RequestPath", "Properties.StatusCode", "Properties.Elapsed"}, places: joined(serilogPlaces, prefixed("Properties.", serilogPlaces))},
	// Traefik, "Access logs", fields: durations are nanoseconds.
	{name: "traefik", marks: []string{"RequestMethod", "RequestPath"}, places: traefikPlaces},
	{name: "traefik", marks: []string{"RequestPath", "DownstreamStatus"}, places: traefikPlaces},
	{name: "traefik", marks: []string{"OriginDuration"}, places: traefikPlaces},
	// Caddy, "log": duration is seconds unless duration_format names another;
	// with "string" it is one of Go's.
	{name: "caddy", marks: []string{"request.uri", "duration", "logger"}, places: caddyPlaces, fractions: true, except: "logger=http.log.error", guess: "seconds, as Caddy writes durations"},
	{name: "caddy", marks: []string{"request.uri", "request.proto", "duration"}, places: caddyPlaces, fractions: true, except: "logger=http.log.error", guess: "seconds, as Caddy writes durations"},
	// pino-http: responseTime is milliseconds (start-time to the end).
	{name: "pino-http", marks: []string{"responseTime", "req.url"}, places: nodePlaces},
	{name: "pino-http", marks: []string{"responseTime", "res.statusCode"}, places: nodePlaces},
	// bunyan with its serializers of requests and answers; restify's audit
	// logger has latency, milliseconds.
	{name: "bunyan", marks: []string{"v=0", "pid", "req.url"}, places: nodePlaces},
	// express-winston: meta.responseTime is milliseconds.
	{name: "express-winston", marks: []string{"meta.req.url", "meta.responseTime"}, places: prefixed("meta.", nodePlaces)},
	// Envoy, and Istio with accessLogEncoding JSON: milliseconds.
	{name: "envoy", marks: []string{"response_flags", "response_code"}, places: envoyPlaces, start: true, connections: true},
	{name: "envoy", marks: []string{"upstream_service_time", "duration"}, places: envoyPlaces, start: true, connections: true},
	{name: "envoy", marks: []string{"start_time", "response_code", "duration"}, places: envoyPlaces, start: true, connections: true},
	// Kong: milliseconds; proxy is the time of the server behind it.
	{name: "kong", marks: []string{"latencies.request", "request.uri"}, places: kongPlaces, start: true},
	// Google Cloud, LogEntry.httpRequest: latency is "0.123s".
	{name: "gcp", marks: []string{"httpRequest.requestUrl"}, places: gcpPlaces, start: true},
	{name: "gcp", marks: []string{"httpRequest.requestMethod"}, places: gcpPlaces, start: true},
	// Azure, Front Door: seconds.
	{name: "azure-front-door", marks: []string{"properties.timeTaken", "properties.httpStatusCode"}, places: azurePlaces(time.Second)},
	// Azure, Application Gateway: seconds in v2, which alone has a
	// transaction or a time of the server; milliseconds in v1.
	{name: "azure-application-gateway", marks: []string{"properties.timeTaken", "properties.transactionId"}, places: azurePlaces(time.Second)},
	{name: "azure-application-gateway", marks: []string{"properties.timeTaken", "properties.serverResponseLatency"}, places: azurePlaces(time.Second)},
	{name: "azure-application-gateway", marks: []string{"properties.timeTaken", "properties.serverRouted"}, places: azurePlaces(time.Second)},
	{name: "azure-application-gateway", marks: []string{"properties.timeTaken", "properties.originalRequestUriWithArgs"}, places: azurePlaces(time.Second)},
	{name: "azure-application-gateway-v1", marks: []string{"properties.timeTaken", "properties.httpMethod"}, places: azurePlaces(time.Millisecond)},
	// AWS, API Gateway, $context variables under the names of its console's
	// example: latencies are milliseconds, requestTime is a point in time.
	{name: "aws-api-gateway", marks: []string{"requestId", "httpMethod"}, places: gatewayPlaces, start: true},
	{name: "aws-api-gateway", marks: []string{"requestId", "routeKey"}, places: gatewayPlaces, start: true},
	// AWS, Application Load Balancer and CloudFront, as tables by the names of
	// Athena's guide ("Querying AWS service logs"): seconds.
	{name: "aws alb", marks: []string{"elb_status_code", "target_processing_time"}, places: albPlaces},
	{name: "cloudfront", marks: []string{"result_type", "time_taken"}, places: cloudFrontPlaces},
	// Cloudflare, Logpush's HTTP requests: no time of the whole request, but to
	// its answer's first byte.
	{name: "cloudflare", marks: []string{"ClientRequestURI", "EdgeResponseStatus"}, places: cloudflarePlaces, start: true,
		guess: "milliseconds to the first byte (EdgeTimeToFirstByteMs), as Cloudflare logs no other time of a request"},
	// Linkerd, "Access logging": total_ns is the time of the whole request.
	{name: "linkerd", marks: []string{"total_ns", "processing_ns", "method"}, places: linkerdPlaces},
	// Oracle Cloud, "Details for Load Balancer Logs": seconds.
	{name: "oci", marks: []string{"logContent.data.lbStatusCode", "logContent.data.request"}, places: prefixed("logContent.", ociPlaces)},
	{name: "oci", marks: []string{"data.lbStatusCode", "data.request"}, places: ociPlaces},
	// Tyk, "Access logs": latencies are milliseconds.
	{name: "tyk", marks: []string{"api_id", "latency_total", "method"}, places: tykPlaces},
	// HAProxy, log-format of JSON with the names of its own variables:
	// milliseconds.
	{name: "haproxy", marks: []string{"Ta"}, places: haproxyPlaces, start: true, connections: true},
	{name: "haproxy", marks: []string{"Tt"}, places: haproxyPlaces, start: true, connections: true},
	// gin-contrib/zap and zap's production encoder: ts is a number of seconds,
	// and so is a duration.
	{name: "zap", marks: []string{"ts", "caller", "msg"}, places: zapPlaces, fractions: true, guess: "seconds, as zap writes durations"},
	{name: "zap", marks: []string{"ts", "level", "msg"}, places: zapPlaces, fractions: true, guess: "seconds, as zap writes durations"},
	// logrus.JSONFormatter and slog.JSONHandler write time.Duration as
	// nanoseconds; the words of their levels differ.
	{name: "logrus", marks: []string{"time", "level=trace|debug|info|warning|error|fatal|panic", "msg"}, places: logrusPlaces, guess: "nanoseconds, as logrus writes Go's durations"},
	{name: "slog", marks: []string{"time", "level=DEBUG|INFO|WARN|ERROR", "msg"}, places: logrusPlaces, guess: "nanoseconds, as log/slog writes Go's durations"},
	// zerolog: Dur is milliseconds (DurationFieldUnit); its message is not "msg".
	{name: "zerolog", decimals: 6, marks: []string{"!msg", "level=trace|debug|info|warn|error|fatal|panic", "time", "duration"}, places: zerologPlaces, guess: "milliseconds, as zerolog writes durations"},
	{name: "zerolog", decimals: 6, marks: []string{"!msg", "level=trace|debug|info|warn|error|fatal|panic", "time", "latency"}, places: zerologPlaces, guess: "milliseconds, as zerolog writes durations"},
	{name: "zerolog", decimals: 6, marks: []string{"!msg", "level=trace|debug|info|warn|error|fatal|panic", "time", "elapsed"}, places: zerologPlaces, guess: "milliseconds, as zerolog writes durations"},
}

// prefixed places are those of an object within the line's.
func prefixed(prefix string, places map[string]place) map[string]place {
	out := map[string]place{}
	for key, p := range places {
		out[prefix+key] = p
	}
	return out
}

// joined tables; the later one counts.
func joined(tables ...map[string]place) map[string]place {
	out := map[string]place{}
	for _, t := range tables {
		maps.Copy(out, t)
	}
	return out
}
