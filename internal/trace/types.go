// Package trace finds what one request of a route does behind the web server:
// which statements and cache calls, how often, and the patterns among them
// that cost without need.
//
// In: calls in the order in which they were made, from logs and command
// streams (one request at a time), or from OpenTelemetry spans. Out: Patterns
// per route. It writes nothing and knows no hosts; Receiver is a server for
// spans on this machine.
package trace

import "time"

// Systems that a Call goes to.
const (
	SQL       = "sql"
	Memcached = "memcached"
	Redis     = "redis"
	HTTP      = "http" // a call to another service
)

// Kinds of calls that are no statement of the application's own.
const (
	Connect = "connect" // a new connection
	Prepare = "prepare" // server-side, its own round trip
	Execute = "execute" // of a prepared statement
	Close   = "close"   // of a prepared statement or a connection
)

// Call is one message to a server behind the application.
type Call struct {
	Service string `json:"service"` // of the stack
	System  string `json:"system"`  // SQL, Memcached, Redis, HTTP
	// Kind: "" a plain query or command, else Connect, Prepare, Execute, Close.
	Kind string `json:"kind,omitempty"`
	// Conn tells connections apart within one service.
	Conn uint64 `json:"conn,omitempty"`
	// Text is the statement with its values, or the command with its keys
	// ("get user:17"). It stays in memory: reports get masked text only.
	Text string `json:"-"`
	// Postgres: Text is in PostgreSQL's dialect, else in MariaDB's and MySQL's.
	Postgres bool          `json:"postgres,omitempty"`
	Took     time.Duration `json:"took,omitempty"` // 0 unknown
	// Source line that made the call: "app/user.php:120"; "" unknown.
	Source string `json:"source,omitempty"`
	// Failed: the server or the client said so.
	Failed bool `json:"failed,omitempty"`
	// Keys of a cache command, as sent; Text holds them too. nil for SQL.
	Keys []string `json:"-"`
	// Value is a hash of what else the command sent (a value, a field; the
	// values of a statement's placeholders); 0: none, or unknown. Equal calls
	// have equal hashes.
	Value uint64 `json:"-"`
	// Size of the value written, bytes; 0 unknown.
	Size int64 `json:"-"`
	// Batch: calls of one connection with the same number > 0 were sent
	// together and cost one round trip.
	Batch int `json:"batch,omitempty"`
}

// Request is one request and the calls it made, in order.
type Request struct {
	Method string `json:"method"`
	Route  string `json:"route"` // as the access log's routes are named
	Target string `json:"-"`
	Status int    `json:"status,omitempty"`
	Took   time.Duration
	Calls  []Call `json:"calls"`
}

// Kinds of patterns.
const (
	NPlusOne      = "n+1"            // I04: a statement once per row of another's result
	SameRead      = "same-read"      // C08: the same row or key again and again
	SameTable     = "same-table"     // G15: several statements on one table that could be one
	RowWrites     = "row-writes"     // C15, I08: single-row writes in a row
	IDByUpdate    = "id-by-update"   // I03: an ID made by UPDATE of a counter row
	SingleGets    = "single-gets"    // C10: single gets that could be one multi-get
	RowConnects   = "connects"       // C12, C13, I14: connections set up per request
	PrepareOnce   = "prepare-once"   // I06: prepare + execute pairs used once
	SameWrite     = "same-write"     // C09: the same key set to the same value again
	SingleRedis   = "single-redis"   // C10: Redis commands that could be a pipeline
	QueriesInLoop = "calls-per-item" // G15, I11: a group of statements repeated per item
)

// Pattern is something that requests of one route do without need.
type Pattern struct {
	Kind     string   `json:"kind"`
	Measures []string `json:"measures"` // IDs of docs/reference/catalogue/measures.md
	Method   string   `json:"method"`
	Route    string   `json:"route"`
	Service  string   `json:"service"` // that the calls go to
	System   string   `json:"system"`
	// What is repeated, values masked: a fingerprint, "get user:*", a table.
	What string `json:"what"`
	// Keys are the columns whose values differ between the calls; nil if that
	// is not known. Statements are the fingerprints of a pattern that has
	// several (same-table, calls-per-item), in their order.
	Keys       []string `json:"keys,omitempty"`
	Statements []string `json:"statements,omitempty"`
	// After is the statement whose rows the calls follow (n+1); may be "".
	After string `json:"after,omitempty"`
	// PerRequest is the mean number of such calls in the requests that have the
	// pattern; Most the highest seen. Could is how many would do.
	PerRequest float64 `json:"per_request"`
	Most       int     `json:"most"`
	Could      float64 `json:"could"`
	// Requests of the route looked at, With those that had the pattern.
	Requests int `json:"requests"`
	With     int `json:"with"`
	// Took is the calls' time per request of the route, 0 unknown.
	Took time.Duration `json:"took,omitempty"`
	// Better is the form it should have: "SELECT … WHERE id IN (?, …)".
	Better string `json:"better"`
	// Source lines that made the calls, most frequent first.
	Sources []string `json:"sources,omitempty"`
	// Example of the repeated call, values masked.
	Example string `json:"example,omitempty"`
}

// RouteCalls is what requests of one route call, mean per request.
type RouteCalls struct {
	Method   string      `json:"method"`
	Route    string      `json:"route"`
	Requests int         `json:"requests"`
	Calls    []CallClass `json:"calls"` // most frequent first
}

// CallClass is one class of calls of a route.
type CallClass struct {
	Service    string        `json:"service"`
	System     string        `json:"system"`
	Kind       string        `json:"kind,omitempty"`
	What       string        `json:"what"` // fingerprint or command with masked key
	PerRequest float64       `json:"per_request"`
	Took       time.Duration `json:"took,omitempty"` // per request of the route; 0 unknown
	Source     string        `json:"source,omitempty"`
}

// Summary is everything known per request.
type Summary struct {
	// Source: "walk" (requests one at a time), "spans" or both joined by "+".
	Source   string       `json:"source"`
	Requests int          `json:"requests"`
	Routes   []RouteCalls `json:"routes"`
	Patterns []Pattern    `json:"patterns"` // most calls saved first
}
