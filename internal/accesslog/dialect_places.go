package accesslog

import "time"

var traefikPlaces = map[string]place{
	"Duration": goNanos, "OriginDuration": upNanos, "Overhead": {kind: kindSkip}, "StartUTC": {kind: kindBegin}, "StartLocal": {kind: kindSkip},
	"time": {kind: kindTime}, "ClientHost": {kind: kindClient}, "ClientAddr": {kind: kindSkip}, "ClientUsername": {kind: kindUser},
	"RequestMethod": {kind: kindMethod}, "RequestPath": {kind: kindTarget}, "RequestProtocol": {kind: kindProtocol}, "RequestHost": {kind: kindHost}, "RequestAddr": {kind: kindHost},
	"DownstreamStatus": {kind: kindCode}, "OriginStatus": {kind: kindSkip}, "DownstreamContentSize": {kind: kindBytes}, "OriginContentSize": {kind: kindSkip},
	"request_User-Agent": {kind: kindAgent}, "request_Referer": {kind: kindReferer},
}

var serilogPlaces = map[string]place{
	"@t": {kind: kindTime}, "Timestamp": {kind: kindTime}, "RequestMethod": {kind: kindMethod}, "RequestPath": {kind: kindTarget}, "StatusCode": {kind: kindCode},
	"Elapsed": goMillis, "RequestHost": {kind: kindHost}, "UserAgent": {kind: kindAgent},
}

var caddyPlaces = map[string]place{
	"duration": goSecs, "request.uri": {kind: kindTarget}, "request.method": {kind: kindMethod}, "request.host": {kind: kindHost}, "request.proto": {kind: kindProtocol},
	"request.remote_ip": {kind: kindClient}, "request.client_ip": {kind: kindClient}, "request.remote_addr": {kind: kindClient}, // v2.0 to 2.4
	"request.headers.User-Agent": {kind: kindAgent}, "request.headers.Referer": {kind: kindReferer}, "request.headers.X-Forwarded-For": {kind: kindForwarded},
	"status": {kind: kindCode}, "size": {kind: kindSize}, "user_id": {kind: kindUser}, "ts": {kind: kindTime}, "when": {kind: kindTime},
	"bytes_read": {kind: kindSkip}, "common_log": {kind: kindSkip},
}

// nodePlaces are of pino's and bunyan's serializers.
var nodePlaces = map[string]place{
	"time": {kind: kindTime}, "req.method": {kind: kindMethod}, "req.url": {kind: kindTarget}, "req.remoteAddress": {kind: kindClient},
	"req.headers.host": {kind: kindHost}, "req.headers.user-agent": {kind: kindAgent}, "req.headers.referer": {kind: kindReferer}, "req.headers.x-forwarded-for": {kind: kindForwarded},
	"req.query": {kind: kindSkip}, "req.httpVersion": {kind: kindSkip}, "url": {kind: kindSkip}, "method": {kind: kindSkip},
	"res.statusCode": {kind: kindCode}, "res.headers.content-length": {kind: kindBytes}, "res.contentLength": {kind: kindBytes},
	"responseTime": goMillis, "latency": goMillis, "duration": goMillis, "elapsed": goMillis, "response_time": goMillis, "response-time": goMillis,
	"timestamp": {kind: kindTime}, // express-winston's, outside meta
}

var envoyPlaces = map[string]place{
	"start_time": {kind: kindBegin}, "time": {kind: kindTime}, "method": {kind: kindMethod}, "path": {kind: kindTarget}, "protocol": {kind: kindProtocol},
	"response_code": {kind: kindCode}, "bytes_sent": {kind: kindSize}, "bytes_received": {kind: kindSkip}, "duration": goMillis,
	"upstream_service_time": upMillis, "response_duration": {kind: kindSkip}, "request_duration": {kind: kindSkip}, "response_tx_duration": {kind: kindSkip},
	"x_forwarded_for": {kind: kindForwarded}, "user_agent": {kind: kindAgent}, "authority": {kind: kindHost}, ":authority": {kind: kindHost},
	"downstream_remote_address": {kind: kindClient}, "downstream_direct_remote_address": {kind: kindSkip}, "x-envoy-upstream-service-time": upMillis,
}

var gcpPlaces = map[string]place{
	"timestamp": {kind: kindBegin}, "receiveTimestamp": {kind: kindSkip}, "time": {kind: kindBegin}, "httpRequest.requestMethod": {kind: kindMethod}, "httpRequest.requestUrl": {kind: kindTarget},
	"httpRequest.status": {kind: kindCode}, "httpRequest.responseSize": {kind: kindSize}, "httpRequest.requestSize": {kind: kindSkip},
	"httpRequest.latency": goSecs, "httpRequest.latency.seconds": goSecs, "httpRequest.latency.nanos": {kind: kindTimePart, unit: time.Nanosecond},
	"httpRequest.remoteIp": {kind: kindClient}, "httpRequest.userAgent": {kind: kindAgent}, "httpRequest.referer": {kind: kindReferer}, "httpRequest.protocol": {kind: kindProtocol},
	"jsonPayload.status": {kind: kindSkip}, "jsonPayload.latency": {kind: kindSkip},
}

// kongPlaces are of Kong's "Log entry" ("HTTP Log", "File Log"): milliseconds.
var kongPlaces = map[string]place{
	"latencies.request": goMillis, "latencies.proxy": upMillis, "started_at": {kind: kindBegin}, "client_ip": {kind: kindClient},
	"request.method": {kind: kindMethod}, "request.uri": {kind: kindTarget}, "request.url": {kind: kindSkip}, "request.size": {kind: kindSkip},
	"request.headers.host": {kind: kindHost}, "request.headers.user-agent": {kind: kindAgent}, "request.headers.referer": {kind: kindReferer},
	"response.status": {kind: kindCode}, "response.size": {kind: kindSize}, "upstream_uri": {kind: kindSkip}, "upstream_status": {kind: kindSkip},
}

// azurePlaces with the unit of timeTaken.
func azurePlaces(unit time.Duration) map[string]place {
	places := prefixed("properties.", map[string]place{
		"timeTaken": {kind: kindGoTime, unit: unit}, "serverResponseLatency": upSecs, "clientResponseTime": {kind: kindSkip}, "timeToFirstByte": {kind: kindSkip},
		"httpMethod": {kind: kindMethod}, "requestUri": {kind: kindPath}, "requestQuery": {kind: kindQuery}, "originalRequestUriWithArgs": {kind: kindTarget},
		"httpVersion": {kind: kindProtocol}, "httpStatus": {kind: kindCode}, "httpStatusCode": {kind: kindCode}, "sentBytes": {kind: kindSize}, "responseBytes": {kind: kindSize},
		"clientIP": {kind: kindClient}, "clientIp": {kind: kindClient}, "userAgent": {kind: kindAgent}, "referer": {kind: kindReferer}, "referrer": {kind: kindReferer},
		"host": {kind: kindHost}, "hostName": {kind: kindHost}, "originalHost": {kind: kindHost}, "cacheStatus": {kind: kindCache},
		"receivedBytes": {kind: kindSkip}, "requestBytes": {kind: kindSkip}, "serverStatus": {kind: kindSkip},
	})
	places["time"], places["timeStamp"] = place{kind: kindTime}, place{kind: kindTime}
	return places
}

var gatewayPlaces = map[string]place{
	"requestTime": {kind: kindTime}, "requestTimeEpoch": {kind: kindTime}, "ip": {kind: kindClient}, "sourceIp": {kind: kindClient}, "user": {kind: kindUser}, "caller": {kind: kindSkip},
	"httpMethod": {kind: kindMethod}, "path": {kind: kindTarget}, "resourcePath": {kind: kindPath}, "routeKey": {kind: kindRequest}, "protocol": {kind: kindProtocol},
	"status": {kind: kindCode}, "responseLength": {kind: kindSize}, "responseLatency": goMillis, "integrationLatency": upMillis, "latency": goMillis,
	"integration.latency": upMillis, "userAgent": {kind: kindAgent}, "domainName": {kind: kindHost}, "integrationStatus": {kind: kindSkip}, "stage": {kind: kindSkip},
}

// albPlaces are the columns of Athena's guide ("Querying Application Load
// Balancer logs"); the time of a request is the sum of three.
var albPlaces = map[string]place{
	"time": {kind: kindTime}, "client_ip": {kind: kindClient}, "request_verb": {kind: kindMethod}, "request_url": {kind: kindTarget}, "request_proto": {kind: kindProtocol},
	"request_line":            {kind: kindRequest},
	"request_processing_time": {kind: kindTimePart, unit: time.Second}, "target_processing_time": {kind: kindUpstreamPart, unit: time.Second}, "response_processing_time": {kind: kindTimePart, unit: time.Second},
	"backend_processing_time": {kind: kindUpstreamPart, unit: time.Second}, "elb_status_code": {kind: kindCode}, "target_status_code": {kind: kindSkip},
	"sent_bytes": {kind: kindSize}, "received_bytes": {kind: kindSkip}, "user_agent": {kind: kindAgent}, "domain_name": {kind: kindHost}, "request_creation_time": {kind: kindSkip},
}

// cloudFrontPlaces are those of "Querying Amazon CloudFront logs".
var cloudFrontPlaces = map[string]place{
	"time": {kind: kindTime}, "bytes": {kind: kindSize}, "request_bytes": {kind: kindSkip}, "request_ip": {kind: kindClient}, "method": {kind: kindMethod}, "host": {kind: kindSkip}, "host_header": {kind: kindHost},
	"uri": {kind: kindPath}, "query_string": {kind: kindQuery}, "status": {kind: kindCode}, "referrer": {kind: kindReferer}, "user_agent": {kind: kindAgent},
	"result_type": {kind: kindCache}, "response_result_type": {kind: kindSkip}, "time_taken": goSecs, "xforwarded_for": {kind: kindForwarded}, "http_version": {kind: kindProtocol}, "time_to_first_byte": {kind: kindSkip},
}

// cloudflarePlaces are of "HTTP requests", the fields of Logpush.
var cloudflarePlaces = map[string]place{
	"EdgeStartTimestamp": {kind: kindBegin}, "ClientRequestMethod": {kind: kindMethod}, "ClientRequestURI": {kind: kindTarget}, "ClientRequestPath": {kind: kindSkip}, "ClientRequestProtocol": {kind: kindProtocol},
	"ClientRequestHost": {kind: kindHost}, "ClientIP": {kind: kindClient}, "ClientRequestUserAgent": {kind: kindAgent}, "ClientRequestReferer": {kind: kindReferer},
	"EdgeResponseStatus": {kind: kindCode}, "EdgeResponseBytes": {kind: kindSize}, "CacheCacheStatus": {kind: kindCache},
	"EdgeTimeToFirstByteMs": goMillis, "OriginResponseDurationMs": upMillis, "OriginResponseTime": upNanos,
}

// linkerdPlaces are of "Access logging", the JSON of linkerd2-proxy.
var linkerdPlaces = map[string]place{
	"timestamp": {kind: kindTime}, "client.addr": {kind: kindClient}, "host": {kind: kindHost}, "method": {kind: kindMethod}, "uri": {kind: kindTarget}, "version": {kind: kindProtocol},
	"status": {kind: kindCode}, "response_bytes": {kind: kindSize}, "request_bytes": {kind: kindSkip}, "total_ns": goNanos, "processing_ns": {kind: kindSkip}, "user_agent": {kind: kindAgent},
}

// ociPlaces are of "Details for Load Balancer Logs"; the upstream's time is to its first byte.
var ociPlaces = map[string]place{
	"data.timestamp": {kind: kindTime}, "data.request": {kind: kindRequest}, "data.lbStatusCode": {kind: kindCode}, "data.backendStatusCode": {kind: kindSkip}, "data.sentBytes": {kind: kindSize},
	"data.receivedBytes": {kind: kindSkip}, "data.requestProcessingTime": goSecs, "data.backendProcessingTime": upSecs, "data.backendConnectTime": {kind: kindSkip}, "data.clientAddr": {kind: kindClient},
	"data.host": {kind: kindHost}, "data.userAgent": {kind: kindAgent}, "data.forwardedForAddr": {kind: kindForwarded}, "time": {kind: kindSkip},
}

// tykPlaces are of "Access logs", the JSON of the gateway.
var tykPlaces = map[string]place{
	"time": {kind: kindTime}, "client_ip": {kind: kindClient}, "host": {kind: kindHost}, "method": {kind: kindMethod}, "path": {kind: kindTarget}, "protocol": {kind: kindProtocol},
	"status": {kind: kindCode}, "latency_total": goMillis, "latency_upstream": upMillis, "latency_gateway": {kind: kindSkip}, "user_agent": {kind: kindAgent},
}

// haproxyPlaces are the names of log-format's variables (8.2.6), which users
// give their keys.
var haproxyPlaces = map[string]place{
	"Ta": goMillis, "Tt": goMillis, "Tr": upMillis, "Tc": {kind: kindSkip}, "Tw": {kind: kindSkip}, "TR": {kind: kindSkip}, "Tq": {kind: kindSkip}, "Th": {kind: kindSkip}, "Ti": {kind: kindSkip},
	"ST": {kind: kindCode}, "B": {kind: kindSize}, "HM": {kind: kindMethod}, "HU": {kind: kindTarget}, "HP": {kind: kindPath}, "HQ": {kind: kindQuery}, "HV": {kind: kindProtocol},
	"ci": {kind: kindClient}, "r": {kind: kindRequest}, "t": {kind: kindTime}, "tr": {kind: kindTime}, "trl": {kind: kindTime}, "T": {kind: kindTime},
	"uri": {kind: kindTarget}, "status": {kind: kindCode}, "bytes": {kind: kindSize},
}

// appPlaces are what handlers of Go programs call their values; durations are
// left to each logger.
var appPlaces = map[string]place{
	"method": {kind: kindMethod}, "http_method": {kind: kindMethod}, "path": {kind: kindPath}, "uri": {kind: kindTarget}, "url": {kind: kindTarget}, "query": {kind: kindQuery},
	"status": {kind: kindCode}, "status_code": {kind: kindCode}, "code": {kind: kindCode}, "ip": {kind: kindClient}, "client_ip": {kind: kindClient}, "remote_addr": {kind: kindClient}, "remote_ip": {kind: kindClient},
	"user-agent": {kind: kindAgent}, "user_agent": {kind: kindAgent}, "size": {kind: kindSize}, "bytes": {kind: kindSize}, "bytes_out": {kind: kindSize}, "body_size": {kind: kindSize},
}

// durationKeys are what handlers call the request's time.
var durationKeys = []string{"latency", "duration", "elapsed", "took", "time_taken", "response_time", "request_time", "cost"}

// durations are these in a unit.
func durations(p place) map[string]place {
	out := map[string]place{}
	for _, key := range durationKeys {
		out[key] = p
	}
	return out
}

var (
	zapPlaces     = joined(appPlaces, durations(goSecs), map[string]place{"ts": {kind: kindTime}, "time": {kind: kindSkip}})
	logrusPlaces  = joined(appPlaces, durations(goNanos), map[string]place{"time": {kind: kindTime}})
	zerologPlaces = joined(appPlaces, durations(goMillis), map[string]place{"time": {kind: kindTime}})
)
