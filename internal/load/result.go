package load

import "time"

// Result is what one run of a scenario measured. Durations are wall-clock.
type Result struct {
	Scenario string `json:"scenario"`
	// ScenarioHash is Scenario.Hash.
	ScenarioHash string `json:"scenario_hash,omitempty"`
	Workload     int    `json:"workload"` // virtual users
	// UsersAssumed: somebody else's benchmark did not tell how many it has, and Workload
	// stands for as many as there are CPUs.
	UsersAssumed bool `json:"users_assumed,omitempty"`
	// PerRun: the score is the points of a whole run, as somebody else's benchmark counts
	// them, and not of a second.
	PerRun  bool          `json:"per_run,omitempty"`
	Seed    uint64        `json:"seed"`
	Started time.Time     `json:"started"` // begin of the measured window
	Warmup  time.Duration `json:"warmup"`  // the most that it might take
	Window  time.Duration `json:"window"`  // length of the measured window

	// WarmupTook is how long the warm-up lasted; 0: not known (somebody else's
	// benchmark). Steady: throughput, and with planned arrivals p50, was seen to
	// be steady when the window began, and was within it. Unsteady says what was
	// not; "" with Steady false: it was not judged, or too uneven to tell.
	WarmupTook time.Duration `json:"warmup_took,omitempty"`
	Steady     bool          `json:"steady"`
	Unsteady   string        `json:"unsteady,omitempty"`

	// SessionTime is how long a session took on average, of those that ended in the run, in
	// the closed model; if none ended, how long the longest had been under way. 0: not
	// known, or sessions are single requests. Uneven (0–1) is how far the shares of its
	// steps in the points are from those in the time.
	SessionTime time.Duration `json:"session_time,omitempty"`
	Uneven      float64       `json:"uneven,omitempty"`
	// Unreached are steps of sessions that no user had come to when the run ended: none of
	// their sessions was over by then. Steps are all that they have.
	Unreached int `json:"unreached,omitempty"`
	Steps     int `json:"steps,omitempty"`

	// Uncounted: somebody else's benchmark tells no requests; what is counted below is
	// points, or what an access log tells.
	Uncounted bool `json:"uncounted,omitempty"`

	Requests   int64 `json:"requests"`   // answered within the window, right or wrong
	Succeeded  int64 `json:"succeeded"`  // right answers
	Mismatches int64 `json:"mismatches"` // answered, but not as expected; Unmeasured among them
	Timeouts   int64 `json:"timeouts"`
	Errors     int64 `json:"errors"` // no answer: refused, reset, broken

	// Unmeasured are mismatches in the warm-up, after the window or in the
	// teardown: a wrong answer counts whenever it comes.
	Unmeasured int64 `json:"unmeasured,omitempty"`

	// Score is points per second, or what the scenario's expression gives. It
	// may be negative; ScoreText says in one line how it was computed.
	Score     float64 `json:"score"`
	ScoreText string  `json:"score_text,omitempty"`
	// Goodput is right answers within their route's objective, per second.
	Goodput float64 `json:"goodput"`
	// Apdex of all requests in the window, from 0 to 1, each with its route's
	// T; a session that was dropped counts as one frustrated request. nil:
	// nothing was asked.
	Apdex *float64 `json:"apdex,omitempty"`

	RequestsPerSecond float64 `json:"requests_per_second"`
	BytesIn           int64   `json:"bytes_in"`
	Connects          int64   `json:"connects"` // connections opened in the window

	Routes  []RouteResult `json:"routes"`            // sorted by total time, most first
	Latency Percentiles   `json:"latency"`           // of all requests
	Samples []Mismatch    `json:"samples,omitempty"` // at most MaxSamples
	// Refusals are routes whose right answers say in their JSON body that they failed.
	Refusals []Refusal      `json:"refusals,omitempty"`
	Series   []SeriesPoint  `json:"series"`           // one point a second
	Ticks    []int64        `json:"ticks,omitempty"`  // right answers in each 100 ms of a window up to a minute
	Assets   []StaticSample `json:"assets,omitempty"` // one per distinct GET that answered with a file-like type
	// Pages are what strangers asked for with GET that is no file, most time first.
	Pages []PageSample `json:"pages,omitempty"`
	// TellingHeaders of the scenario, in lower case, may tell who asks.
	TellingHeaders []string `json:"telling_headers,omitempty"`
	// TakesBrotli: some request of the scenario has br in Accept-Encoding.
	TakesBrotli bool `json:"takes_brotli,omitempty"`

	// Open is what only the open model has; nil in the closed one. There,
	// Latency counts from the planned time.
	Open *Open `json:"open,omitempty"`

	// Engine that moved the bytes: epoll, net, http2, or the name of a foreign
	// benchmark.
	Engine string `json:"engine,omitempty"`

	// GeneratorCPU is CPU time this process used in the window.
	GeneratorCPU time.Duration `json:"generator_cpu"`
	// Saturated says why the generator itself limited the run; "" if it did not.
	Saturated string `json:"saturated,omitempty"`
}

// Open is what a run with planned arrivals adds. All counts are of the window.
type Open struct {
	PlannedPerSecond float64 `json:"planned_per_second"` // sessions, mean over the window
	Planned          int64   `json:"planned"`            // sessions whose planned time lies in the window
	Begun            int64   `json:"begun"`
	// Dropped could not begin within the time-out of their first request,
	// because all users were busy.
	Dropped int64 `json:"dropped"`
	// Uncorrected is latency from when a request was really sent: what hides a
	// service's stalls.
	Uncorrected Percentiles `json:"uncorrected"`
	// Lateness is how long after its planned time a session began although a
	// user was free: the generator's own error.
	Lateness Percentiles `json:"lateness"`
	MaxUsers int         `json:"max_users"` // most sessions under way at once
}

// MaxSamples bounds the mismatches kept with their bodies.
const MaxSamples = 20

// RouteResult is one route's share in the window. A route is a method and a
// path template. Requests is Succeeded plus Failed, which holds wrong answers,
// errors and time-outs.
type RouteResult struct {
	Route     string        `json:"route"`
	Requests  int64         `json:"requests"`
	Succeeded int64         `json:"succeeded"`
	Failed    int64         `json:"failed"`
	Bytes     int64         `json:"bytes"`
	Total     time.Duration `json:"total"` // Σ latency
	Latency   Percentiles   `json:"latency"`

	Good      int64         `json:"good"` // right answers within Objective
	Objective time.Duration `json:"objective,omitempty"`
	Apdex     *float64      `json:"apdex,omitempty"`   // from 0 to 1; nil: not measured
	ApdexT    time.Duration `json:"apdex_t,omitempty"` // its T
}

// Percentiles of latency, from an HDR histogram with three significant digits.
// Latency is the time from send to last byte; it holds the time to connect if
// the request needed a new connection. Time-outs are in it with the time they
// took, requests without an answer are not.
type Percentiles struct {
	Mean time.Duration `json:"mean"`
	P50  time.Duration `json:"p50"`
	P90  time.Duration `json:"p90"`
	P95  time.Duration `json:"p95"`
	P99  time.Duration `json:"p99"`
	Max  time.Duration `json:"max"`
}

// Mismatch is one wrong answer, with what was expected; or none (Kind).
type Mismatch struct {
	Kind     string    `json:"kind"` // mismatch, error (no answer) or timeout
	At       time.Time `json:"at"`
	Session  string    `json:"session"`
	Step     string    `json:"step"`
	Request  string    `json:"request"` // method, path, body without secrets
	Expected string    `json:"expected"`
	Got      string    `json:"got"`  // status or the reason
	Body     string    `json:"body"` // first 4 KiB of the answer
	// Reference is the first 4 KiB of the right answer where one is recorded
	// (golden); "" otherwise.
	Reference string `json:"reference,omitempty"`
}

// SeriesPoint is one second of a run.
type SeriesPoint struct {
	Second    int   `json:"second"` // since the window began; negative in warm-up
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
}

// StaticSample is one answer to a plain GET whose Content-Type is that of a
// file (style sheet, script, image, font), so that diagnosis can compare it
// with files on the host.
type StaticSample struct {
	Path        string `json:"path"` // without query
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	SHA256      string `json:"sha256"`
	Size        int64  `json:"size"`
	SetsCookie  bool   `json:"sets_cookie"`
	// CookieOnce: it sets a cookie only for whoever has none of the front page's.
	CookieOnce bool `json:"cookie_once,omitempty"`
	// Private says why it is not the same for everybody, "" if a plain request
	// without a cookie gave the same bytes; Headers are those that the
	// application adds to it, "Name: value", sorted. Both by ConfirmStatic.
	Private string   `json:"private,omitempty"`
	Headers []string `json:"headers,omitempty"`
	// Varied is true if two answers in the run had different bytes.
	Varied bool `json:"varied"`
	// Count of requests for it in the window, and their summed latency.
	Count int64         `json:"count"`
	Total time.Duration `json:"total"`
}

// Units of scores.
const (
	PointsPerSecond = "points/s"
	PointsPerRun    = "points"
)

// Unit of the score: PointsPerSecond, or PointsPerRun.
func (r *Result) Unit() string {
	if r.PerRun {
		return PointsPerRun
	}
	return PointsPerSecond
}
