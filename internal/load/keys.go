package load

import "math"

// The contexts of examples: scenarios with one place left open (@).
const (
	someData  = `version: 1, name: example, pools: {users: {generate: {to: 10}, fields: {login: "user${n}", password: "pass${n}"}}}`
	firstStep = `{name: first, request: GET /first, extract: {token: {header: X-Token}}, record: {in: "${user.login}"}}`
	oneVisit  = `sessions: [{name: visit, draw: {user: users}, steps: [` + firstStep + `]}]`

	inScenario  = `{@}`
	inPool      = `{version: 1, name: example, pools: {words: {@}}, sessions: [{steps: [{request: GET /}]}]}`
	inSession   = `{` + someData + `, sessions: [{@}]}`
	inStep      = `{` + someData + `, sessions: [{draw: {user: users}, steps: [` + firstStep + `, {@}]}]}`
	inExpect    = `{` + someData + `, sessions: [{draw: {user: users}, steps: [` + firstStep + `, {request: GET /, expect: {@}}]}]}`
	inTeardown  = `{` + someData + `, ` + oneVisit + `, teardown: [{request: GET /report, expect: {@}}]}`
	inTime      = `{` + someData + `, sessions: [{draw: {user: users}, steps: [` + firstStep + `, {request: GET /, expect: {time: {@}}}]}]}`
	inExtract   = `{` + someData + `, sessions: [{draw: {user: users}, steps: [` + firstStep + `, {request: GET /, extract: {id: {@}}}]}]}`
	inGenerate  = `{version: 1, name: example, pools: {users: {generate: {@}, fields: {login: "user${n}"}}}, sessions: [{steps: [{request: GET /}]}]}`
	inArrivals  = `{` + someData + `, ` + oneVisit + `, arrivals: {@}}`
	inStage     = `{` + someData + `, ` + oneVisit + `, arrivals: {stages: [{rate: 1, for: 1s}, {@}]}}`
	inUpload    = `{` + someData + `, sessions: [{draw: {user: users}, steps: [` + firstStep + `, {request: POST /, multipart: {part: {@}}}]}]}`
	inScore     = `{` + someData + `, ` + oneVisit + `, score: {@}}`
	inApdex     = `{` + someData + `, ` + oneVisit + `, score: {apdex: {@}}}`
	inPenalty   = `{` + someData + `, ` + oneVisit + `, score: {penalty: {@}}}`
	exampleTime = `'at ([-0-9: ]{19})'`
)

// mostPoints of a weight or penalty.
const mostPoints = 1e6

// places are all that scenario.yaml may hold. The schema, docs/reference/scenario-keys.md
// and the tests are made from this table; the first one is the whole file.
var places = []sectionSpec{
	{name: "scenario", meaning: "What load to put on a service, and what a right answer looks like.", context: inScenario,
		base: []string{"version", "1", "name", "example", "sessions", "[{name: visit, steps: [{request: GET /}]}]"},
		keys: []keySpec{
			{name: "version", value: wholeValue(1, 1), required: true, meaning: "The version of this format.", example: "1"},
			{name: "name", value: textValue(), required: true, meaning: "The scenario's name, for results and reports.", example: "shop"},
			{name: "workload", value: wholeValue(1, maxWorkload), fallback: "8", meaning: "Virtual users; each runs one session after another.", example: "32"},
			{name: "warmup", value: schema{"anyOf": []schema{durationValue(), wordValue("auto")}}, fallback: "auto",
				meaning: "The most that load lasts before the measured window, which begins when throughput is steady; auto: at most 3 s. While users wait for their first answer it goes on, up to 20 s. Only wrong answers count in it.", example: "2s"},
			{name: "duration", value: durationValue(), fallback: "5s", meaning: "The measured window.", example: "30s"},
			{name: "timeout", value: durationValue(), fallback: "5s", meaning: "Of each request; longer counts as a time-out.", example: "500ms"},
			{name: "seed", value: wholeValue(0, math.MaxInt64), fallback: "1", meaning: "Of everything random: the same seed gives the same requests, in the window whatever the warm-up was like.", example: "42"},
			{name: "pools", value: namedValue(refValue("pool")), meaning: "Data that sessions draw rows from, by name.",
				example: `{users: {generate: {to: 100}, fields: {login: "user${n}"}}}`},
			{name: "sessions", value: schema{"type": "array", "items": refValue("session"), "minItems": 1}, required: true,
				meaning: "What a virtual user does; one is picked per turn, by weight.", example: "[{name: visit, steps: [{request: GET /}]}]"},
			{name: "setup", value: listValue(refValue("step")), meaning: "Steps done once, before the warm-up; what they extract is known in all sessions. A failure ends the run.",
				example: "[{request: POST /admin/reset}]"},
			{name: "teardown", value: listValue(refValue("step")), meaning: "Steps done once, after the window; a failure counts as a mismatch.",
				example: "[{request: GET /report, expect: {json: {$.version: 1}}}]"},
			{name: "cache", value: wordValue(cacheModes...), fallback: "none", meaning: "The browser cache for assets: none, session (emptied when a session begins: a new visitor) or user (kept over sessions: a returning visitor).", example: "session"},
			{name: "arrivals", value: refValue("arrivals"), meaning: "When sessions begin, as planned (open model); workload is then how many may be under way at once.", example: "{rate: 200}"},
			{name: "mask", value: someValue(textValue()), meaning: "Regular expressions of parts that differ in all golden answers; the first group of each, or the whole match, is not compared.", example: `['name="csrf" value="(\w+)"']`},
			{name: "score", value: refValue("score"), meaning: "What answers are worth.", example: "{weights: {GET /: 2}, penalty: {error: 5}}"},
		}},
	{name: "pool", meaning: "Rows of data: generated, or from a file.", context: inPool, keys: []keySpec{
		{name: "generate", value: refValue("generate"), meaning: "One row for each whole number n.", example: "{from: 1, to: 1000}", with: []string{"fields", `{word: "w${n}"}`}},
		{name: "fields", value: namedValue(textValue()), meaning: "The fields of generated rows; they know ${n}, ${n/K} (whole numbers) and ${n%K}, and chains such as ${n/256%256}.",
			example: `{ip: "10.${n/256}.${n%256}.7"}`, with: []string{"generate", "{to: 1000}"}},
		{name: "file", value: textValue(), meaning: "A CSV file, relative to the scenario; its header line names the fields.", example: "words.csv"},
		{name: "order", value: wordValue("unique", "random", "sequential"), fallback: "unique",
			meaning: "unique: each row once per run, in a random order, until all are used up, then again; random: independent draws; sequential: in the order of the rows, over all users.",
			example: "random", with: []string{"file", "words.csv"}},
	}},
	{name: "arrivals", meaning: "When sessions begin, whether or not earlier ones have ended (open model).", context: inArrivals, keys: []keySpec{
		{name: "rate", value: numberValue(0, maxRate), meaning: "Sessions per second. One of rate, stages and recorded is needed.", example: "200"},
		{name: "stages", value: listValue(refValue("stage")), meaning: "Rates that follow each other; the last one's holds to the end.",
			example: "[{rate: 100, for: 10s}, {from: 100, to: 1000, for: 30s}]"},
		{name: "recorded", value: textValue(), meaning: "A CSV file, relative to the scenario, with the columns at (seconds since the begin) and session (its name; may be missing).", example: "arrivals.csv"},
		{name: "speed", value: numberValue(0.001, 1e6), fallback: "1", meaning: "So many times as fast as recorded.", example: "2", with: []string{"recorded", "arrivals.csv"}},
		{name: "random", value: flagValue(), fallback: "false", meaning: "Arrivals at random times with that rate (a Poisson process) instead of even ones.", example: "true", with: []string{"rate", "200"}},
		{name: "slack", value: durationValue(), fallback: "1ms", meaning: "How much later than planned a session may begin, so that several begin with one wake-up; 0s: none.", example: "100us", with: []string{"rate", "200"}},
	}},
	{name: "stage", meaning: "A rate for some time: rate, or from and to.", context: inStage, base: []string{"for", "10s"}, keys: []keySpec{
		{name: "rate", value: numberValue(0, maxRate), meaning: "Sessions per second.", example: "100"},
		{name: "from", value: numberValue(0, maxRate), meaning: "Sessions per second at its begin; the rate changes evenly.", example: "100", with: []string{"to", "500"}},
		{name: "to", value: numberValue(0, maxRate), meaning: "Sessions per second at its end.", example: "500", with: []string{"from", "100"}},
		{name: "for", value: durationValue(), required: true, meaning: "How long it lasts.", example: "30s", with: []string{"rate", "100"}},
	}},
	{name: "generate", meaning: "The numbers that rows are made from.", context: inGenerate, base: []string{"to", "10"}, keys: []keySpec{
		{name: "from", value: wholeValue(0, maxGenerated), fallback: "1", meaning: "The first n.", example: "5"},
		{name: "to", value: wholeValue(0, maxGenerated), required: true, meaning: "The last n.", example: "100000"},
	}},
	{name: "session", meaning: "Steps that one visitor does.", context: inSession, base: []string{"steps", "[{request: GET /}]"}, keys: []keySpec{
		{name: "name", value: textValue(), meaning: "For results and messages; without it session N.", example: "returning customer"},
		{name: "weight", value: wholeValue(1, 1_000_000), fallback: "1", meaning: "How often the session is picked, in proportion to the others' weights. Kinds come evenly spread, so that short runs have the same mix, too.", example: "6"},
		{name: "draw", value: namedValue(textValue()), meaning: "Rows for the whole session: name and pool.", example: "{user: users}"},
		{name: "cache", value: wordValue(cacheModes...), meaning: "The browser cache of this session's assets instead of the scenario's.", example: "user"},
		{name: "steps", value: listValue(refValue("step")), required: true, meaning: "One request after the other; when one fails its check, the session ends.",
			example: "[{request: GET /}, {request: GET /cart}]"},
	}},
	{name: "step", meaning: "One request, what its answer must be, and what follows.", context: inStep, base: []string{"request", "GET /"}, keys: stepTable},
	{name: "expect", meaning: "What a right answer looks like.", context: inExpect, keys: expectTable},
	{name: "time", meaning: "A time in the body that lies near a step's.", context: inTime,
		base: []string{"regexp", exampleTime, "layout", `"2006-01-02 15:04:05"`, "near", "first"}, keys: []keySpec{
			{name: "regexp", value: textValue(), required: true, meaning: "Its first group is the time.", example: exampleTime},
			{name: "layout", value: textValue(), required: true, meaning: "How the time 2006-01-02 15:04:05 would look (Go's layouts).", example: `"2006-01-02 15:04:05"`},
			{name: "zone", value: textValue(), meaning: "Of a layout without a zone; without it that of the generator.", example: "Asia/Tokyo"},
			{name: "near", value: textValue(), required: true, meaning: "The name of this step or of one before it.", example: "first"},
			{name: "within", value: durationValue(), fallback: "2s", meaning: "How far the time may be off, before or after.", example: "5s"},
		}},
	{name: "extraction", meaning: "Where a value stands in the answer.", context: inExtract, keys: []keySpec{
		{name: "regexp", value: textValue(), meaning: "The first group of a match in the body, or in what the key beside it gives.", example: `'name="id" value="(\w+)"'`},
		{name: "header", value: textValue(), meaning: "A header's value.", example: "Location"},
		{name: "json", value: textValue(), meaning: "A value of a JSON body, by its path.", example: `"$.items[0].id"`},
		{name: "css", value: textValue(), meaning: "The text of the first element of an HTML page that this CSS selector finds.", example: `"form#login input[name=csrf]"`},
		{name: "attr", value: textValue(), meaning: "An attribute of that element instead of its text.", example: "value", with: []string{"css", `"input[name=csrf]"`}},
		{name: "cookie", value: textValue(), meaning: "The value of a cookie of the session, its percent-encoding taken away.", example: "sid"},
	}},
	{name: "upload", meaning: "One part of a multipart body: a file, or a text.", context: inUpload, keys: []keySpec{
		{name: "file", value: textValue(), meaning: "A file, relative to the scenario.", example: "cat.png"},
		{name: "text", value: textValue(), meaning: "A text instead of a file.", example: `"note of ${user.login}"`},
		{name: "name", value: textValue(), meaning: "The file name sent; without it that of the file.", example: "photo.png", with: []string{"file", "cat.png"}},
		{name: "type", value: textValue(), meaning: "The part's Content-Type; without it application/octet-stream for files.", example: "image/png", with: []string{"file", "cat.png"}},
	}},
	{name: "score", meaning: "What answers are worth.", context: inScore, keys: []keySpec{
		{name: "weights", value: mapValue(numberValue(0, mostPoints)), meaning: "Points per right answer, by route.", example: "{GET /first: 3}"},
		{name: "default_weight", value: numberValue(0, mostPoints), fallback: "1", meaning: "Points of routes that weights does not name.", example: "0.5"},
		{name: "penalty", value: refValue("penalty"), meaning: "Points off for failures.", example: "{mismatch: 100, error: 20}"},
		{name: "objective", value: durationValue(), fallback: "500ms", meaning: "Only right answers within it count (goodput). Without weights, default_weight and penalty that is so anyway.", example: "200ms"},
		{name: "objectives", value: mapValue(durationValue()), meaning: "Other objectives, by route.", example: "{GET /first: 50ms}"},
		{name: "apdex", value: refValue("apdex"), meaning: "The T of Apdex; without it the objective.", example: "{t: 100ms, routes: {GET /first: 50ms}}"},
		{name: "expression", value: textValue(), meaning: "A formula of the run's figures instead of weights and penalties.", example: `"goodput * apdex"`},
	}},
	{name: "penalty", meaning: "Points off for each failure.", context: inPenalty, keys: []keySpec{
		{name: "mismatch", value: numberValue(0, mostPoints), fallback: "50", meaning: "For a wrong answer.", example: "100"},
		{name: "error", value: numberValue(0, mostPoints), fallback: "10", meaning: "For a request without an answer.", example: "5"},
		{name: "timeout", value: numberValue(0, mostPoints), fallback: "20", meaning: "For an answer that came too late.", example: "0"},
		{name: "dropped", value: numberValue(0, mostPoints), meaning: "For a planned session that could not begin in time (open model); without it as for an error.", example: "10"},
	}},
	{name: "apdex", meaning: "T: up to it an answer satisfies, up to 4 T it is tolerated.", context: inApdex, keys: []keySpec{
		{name: "t", value: durationValue(), meaning: "Of all routes that routes does not name.", example: "100ms"},
		{name: "routes", value: mapValue(durationValue()), meaning: "By route.", example: "{GET /first: 50ms}"},
	}},
}

var stepTable = []keySpec{
	{name: "name", value: textValue(), meaning: "For messages and for near; without it step N.", example: "login"},
	{name: "request", value: patternValue(`^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) +(/|\$\{)`), required: true,
		meaning: "METHOD /path?query. A path that begins with a variable takes its value as a link.", example: `"GET /search?q=${user.login}"`},
	{name: "route", value: textValue(), meaning: "Label in results and in score.weights; without it the method and the path without query.", example: "POST /login (wrong)"},
	{name: "headers", value: mapValue(someValue(textValue())), meaning: "Sent too; they replace the default User-Agent, Accept and Host, and Cookie. A list repeats a header.", example: `{X-Forwarded-For: "10.0.0.1"}`},
	{name: "form", value: mapValue(schema{"type": []string{"string", "number", "boolean", "array", "null"}, "items": textValue()}),
		meaning: "A url-encoded body; a list repeats a field.", example: `{login: "${user.login}", password: "${user.password}", tag: [a, b]}`, with: []string{"request", "POST /login"}},
	{name: "json", value: anyValue(), meaning: "Any YAML, sent as JSON.", example: `{user: "${user.login}", tags: [a, 1, true, null]}`, with: []string{"request", "POST /api"}},
	{name: "body", value: textValue(), meaning: "A text as it is.", example: `"<login>${user.login}</login>"`, with: []string{"request", "PUT /xml", "headers", "{Content-Type: text/xml}"}},
	{name: "multipart", value: mapValue(schema{"anyOf": []schema{textValue(), refValue("upload"), listValue(schema{"anyOf": []schema{textValue(), refValue("upload")}})}}), meaning: "A form with file uploads: a text each, or a file; a list repeats a field.",
		example: `{title: "${user.login}", picture: {file: cat.png, type: image/png}}`, with: []string{"request", "POST /pictures"}},
	{name: "repeat", value: wholeValue(1, 1_000_000), fallback: "1", meaning: "How often the step is done.", example: "10"},
	{name: "draw", value: namedValue(textValue()), meaning: "Fresh rows at each repetition; the row stays for the steps after it.", example: "{victim: users}"},
	{name: "expect", value: refValue("expect"), meaning: "What the answer must be; without it status 200.", example: "{status: 200, contains: Welcome}"},
	{name: "follow", value: flagValue(), fallback: "false", meaning: "Follow up to 10 redirects within the target; expect is for the first answer.", example: "true"},
	{name: "then", value: refValue("expect"), meaning: "What the last answer must be after redirects.", example: "{contains: Welcome}", with: []string{"follow", "true"}},
	{name: "extract", value: namedValue(refValue("extraction")), meaning: "Values of the last answer, as variables of later steps.", example: `{id: {json: "$.id"}}`},
	{name: "record", value: namedValue(textValue()), meaning: "Values remembered for the teardown, as the sets @name.", example: `{seen: "${user.login}"}`},
	{name: "assets", value: someValue(textValue()), meaning: "Fetched after the step: paths, each with the same bytes in the whole run; auto: what the page and its style sheets refer to.", example: "[auto, /img/logo.png]"},
	{name: "think", value: durationValue(), fallback: "0s", meaning: "A pause after the step.", example: "100ms"},
	{name: "timeout", value: durationValue(), meaning: "For this step's requests instead of the scenario's.", example: "10s"},
}

var expectTable = []keySpec{
	{name: "status", value: someValue(wholeValue(200, 599)), meaning: "The status, or one of a list. Without it 200; with follow any redirect.", example: "[200, 304]"},
	{name: "type", value: textValue(), meaning: "Content-Type begins with it.", example: "text/html"},
	{name: "header", value: mapValue(textValue()), meaning: "Each header has exactly this value; a Location may have the target's own origin in front.", example: `{Location: "/users/${user.login}"}`},
	{name: "contains", value: someValue(textValue()), meaning: "The body holds all of these texts.", example: `['<form action="/login"', "${user.login}"]`},
	{name: "not_contains", value: someValue(textValue()), meaning: "The body holds none of these texts.", example: "[error, Warning]"},
	{name: "regexp", value: someValue(textValue()), meaning: "The body matches all of these (RE2); they take no variables.", example: `['<h1>.+</h1>']`},
	{name: "time", value: refValue("time"), meaning: "A time in the body lies near a step's.", example: `{regexp: ` + exampleTime + `, layout: "2006-01-02 15:04:05", near: first}`},
	{name: "sha256", value: patternValue("^[0-9A-Fa-f]{64}$"), meaning: "The body's digest.", example: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{name: "size", value: wholeValue(0, maxBody), meaning: "The body's length in bytes.", example: "1024"},
	{name: "golden", value: textValue(), meaning: "The body equals this recorded file, apart from masked parts; kasoku scenario record writes it.", example: "page.html"},
	{name: "mask", value: someValue(textValue()), meaning: "Regular expressions of parts of this answer that are not compared with golden.", example: `['id=(\d+)']`, with: []string{"golden", "page.html"}},
	{name: "json", value: mapValue(anyValue()), meaning: "The value at each path equals this one.", example: `{"$.user.name": "${user.login}", "$.items[0]": {id: 1}}`},
	{name: "json_has_all", value: mapValue(patternValue("^@")), meaning: "In teardown: the array holds every value of a recorded set.", example: `{"$.users": "@in"}`, context: inTeardown},
	{name: "json_has_none", value: mapValue(patternValue("^@")), meaning: "In teardown: the array holds no value of a recorded set.", example: `{"$.locked": "@in"}`, context: inTeardown},
}
