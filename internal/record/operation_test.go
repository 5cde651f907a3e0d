package record

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// entryOf is an entry of a HAR as a browser writes it.
func entryOf(at int, method, target, form, kind, body string) harEntry {
	e := harEntry{Page: "p", Started: harTime{time.Unix(1_700_000_000+int64(at), 0).UTC()}, Time: 20}
	e.Request = harRequest{Method: method, URL: "http://app.test" + target}
	if form != "" {
		e.Request.Post = &harPost{Type: "application/x-www-form-urlencoded", Text: form}
	}
	e.Answer.Status, e.Answer.Content.Type, e.Answer.Content.Text = 200, kind, body
	return e
}

func drafted(t *testing.T, entries ...harEntry) (*Draft, string) {
	t.Helper()
	var f harFile
	f.Log.Entries = entries
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	d, err := FromHAR(strings.NewReader(string(data)), HAROptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write(t.TempDir(), false); err != nil {
		t.Fatal(err)
	}
	return d, string(d.Scenario())
}

// Where one address serves everything, steps are told by what they ask it for; else each
// would be the same route, and the report could not say which is slow.
func TestOneAddressForEverything(t *testing.T) {
	_, text := drafted(t,
		entryOf(1, "GET", "/app/", "", "text/html", "<title>Reader</title>"),
		entryOf(2, "POST", "/app/backend.php", "op=rpc&method=counters&seq=1", "application/json", `{"counters": [], "seq": 1}`),
		entryOf(3, "POST", "/app/backend.php", "op=feeds&method=view&feed=-3", "application/json", `{"headlines": "x"}`),
		entryOf(4, "POST", "/app/save", "method=put&x=1", "application/json", `[]`),
		entryOf(5, "POST", "/app/save", "method=put&x=2", "application/json", `[]`),
	)
	for _, want := range []string{`route: POST /app/backend.php op=rpc method=counters`, `route: POST /app/backend.php op=feeds method=view`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "/app/save method") {
		t.Errorf("an address that is asked for one thing has it in its route:\n%s", text)
	}
}

// A parameter that every request of the one script has names what is asked for, whatever
// it is called; one that only some have, numbers, and one that is always the same do not.
func TestOneScriptWithAParameter(t *testing.T) {
	at := func(i int, query string) harEntry {
		return entryOf(i, "GET", "/index.php?"+query, "", "text/html", "<html>"+query+"</html>")
	}
	_, text := drafted(t, at(1, "lang=en&route=product/list&n=1"), at(2, "lang=en&route=product/search&n=2&search=lamp"),
		at(3, "lang=en&route=checkout/cart.add&n=3"), at(4, "lang=en&route=product/list&n=4"),
		entryOf(5, "GET", "/style.css", "", "text/css", "b{}"), entryOf(6, "GET", "/about.php?topic=us", "", "text/html", "<html>us</html>"))
	for _, want := range []string{"route: GET /index.php route=product/list\n", "route: GET /index.php route=checkout/cart.add\n", "request: GET /about.php?topic=us"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "route: GET /index.php route=product/search search") || strings.Contains(text, "lang=en route") || strings.Contains(text, "about.php topic") {
		t.Errorf("more than the one parameter tells routes:\n%s", text)
	}
}

// A refusal as JSON or an error page with status 200 is no right answer.
func TestRecordedAnswersSayWhatIsRight(t *testing.T) {
	_, text := drafted(t,
		entryOf(1, "GET", "/", "", "text/html", "<html><title>Reader</title>"),
		entryOf(2, "GET", "/inbox", "", "text/html", "<title>Inbox (3)</title>"),
		entryOf(3, "GET", "/api/a", "", "application/json", `{"counters": [1], "seq": 1}`),
		entryOf(4, "GET", "/api/b", "", "application/json", `{"17": {}}`),
		entryOf(5, "GET", "/api/c", "", "application/json", `{"error": null, "rows": []}`),
	)
	for _, want := range []string{`contains: "<title>Reader</title>"`, `contains: "\"counters\""`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "contains:"); n != 2 {
		t.Errorf("%d checks of what may differ in the next answer, want 2 in all:\n%s", n, text)
	}
}

// Files of pages do not outvote the requests of the visit.
func TestFilesThatOutnumberStepsScoreNothing(t *testing.T) {
	page := entryOf(1, "GET", "/app/", "", "text/html", "<title>A</title>")
	call := entryOf(3, "POST", "/app/call", "a=1", "application/json", `{}`)
	script := func(name string) harEntry {
		e := entryOf(1, "GET", name, "", "application/javascript", "x")
		e.Resource = "script"
		return e
	}
	_, text := drafted(t, page, script("/app/a.js"), script("/app/b.js"), script("/app/c.js"), call)
	if want := `score: {default_weight: 0, weights: {"GET /app/": 1, "POST /app/call": 1}}`; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if _, text = drafted(t, page, script("/app/a.js"), call); strings.Contains(text, "score:") {
		t.Errorf("one file beside two steps changes the score:\n%s", text)
	}
}

// With --keep-secrets the user and password of a command are taken, as the values of its
// other headers are; the first part of a path that is a version stays in the route.
func TestCommandsWithAUser(t *testing.T) {
	const command = "curl -u admin:password 'http://app.test/1.0/kb/accounts/17'\ncurl -u \"$WHO\" http://app.test/1.0/kb/x\n"
	text := func(keep bool) string {
		d, err := FromCurl(strings.NewReader(command), ClientOptions{KeepSecrets: keep})
		if err != nil {
			t.Fatal(err)
		}
		return string(d.Scenario())
	}
	kept := text(true)
	for _, want := range []string{`"Authorization": "Basic YWRtaW46cGFzc3dvcmQ="`, `"Authorization": "Basic FILL-IN"`, "route: GET /1.0/kb/accounts/:id"} {
		if !strings.Contains(kept, want) {
			t.Errorf("no %q in\n%s", want, kept)
		}
	}
	if masked := text(false); strings.Contains(masked, "YWRtaW46") {
		t.Errorf("a secret was taken without being asked to:\n%s", masked)
	}
}

// The token of a form is taken from the field that has its name: other pages, and those of
// other visitors, have other fields before it.
func TestTokenOfAFieldIsFoundByItsName(t *testing.T) {
	const token, other = "a7f3A7f3a7f3A7f3a7", "b8e4B8e4b8e4B8e4b8"
	for _, form := range []string{
		`<input type="hidden" name="csrfmiddlewaretoken" value="%s">`,
		`<input value='%s' type='hidden' name='csrfmiddlewaretoken' />`,
		`<input type=hidden name=csrfmiddlewaretoken value=%s>`,
	} {
		_, text := drafted(t,
			entryOf(1, "GET", "/login", "", "text/html", "<form>"+fmt.Sprintf(form, token)+"</form>"),
			entryOf(2, "POST", "/login", "csrfmiddlewaretoken="+token+"&user=a", "text/html", "ok"))
		if !strings.Contains(text, `"csrfmiddlewaretoken": "${csrfmiddlewaretoken}"`) {
			t.Fatalf("the token is not taken anew:\n%s", text)
		}
		found := regexp.MustCompile(`csrfmiddlewaretoken: \{regexp: (".*")\}`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("no extraction by a pattern:\n%s", text)
		}
		pattern, err := strconv.Unquote(found[1])
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(pattern)
		page := `<input name="q" value="lamp"><input type="hidden" value="17" name="page">` + fmt.Sprintf(form, other)
		if m := re.FindStringSubmatch(page); m == nil || m[1] != other {
			t.Errorf("%s finds %q in a page with fields before it, want %q", re, m, other)
		}
	}
}

// A page without a title that stays is told from one that broke off by its end.
func TestPagesAreWhole(t *testing.T) {
	_, text := drafted(t,
		entryOf(1, "GET", "/", "", "text/html", "<html><title>Lamp 17</title><body>\n</BODY></HTML>\n"),
		entryOf(2, "GET", "/part", "", "text/html", "<li>a</li>"))
	if !strings.Contains(text, `contains: "</HTML>"`) || strings.Count(text, "contains:") != 1 {
		t.Errorf("want the first page's end alone:\n%s", text)
	}
}

// A title on lines of its own, as templates write it, tells a page from an error page, too.
func TestTitleOnSeveralLines(t *testing.T) {
	_, text := drafted(t,
		entryOf(1, "GET", "/", "", "text/html", "<title>\n    All products | Corner shop -\n  \n</title>"),
		entryOf(2, "GET", "/inbox", "", "text/html", "<title>\n  Inbox (3)\n</title>"),
		entryOf(3, "GET", "/x", "", "text/html", "<title>\n  a\n</title>"))
	if !strings.Contains(text, `contains: "All products | Corner shop -"`) || strings.Count(text, "contains:") != 1 {
		t.Errorf("want the first page's title alone:\n%s", text)
	}
}

// What was slow for one visitor alone is given time, and scores; else nothing would be
// right, and nothing could become better.
func TestSlowServicesAreGivenTime(t *testing.T) {
	page := func(ms float64) string {
		e := entryOf(1, "GET", "/", "", "text/html", "x")
		e.Time = ms
		_, text := drafted(t, e, entryOf(2, "GET", "/b", "", "text/html", "y"))
		return text
	}
	if text := page(1600); !strings.Contains(text, "\ntimeout: 13s\n") || !strings.Contains(text, "\nscore: {default_weight: 1}\n") {
		t.Errorf("after 1.6 s for one visitor:\n%s", text)
	}
	if text := page(120_000); !strings.Contains(text, "\ntimeout: 1m0s\n") {
		t.Errorf("after two minutes for one visitor:\n%s", text)
	}
	if text := page(90); strings.Contains(text, "\ntimeout:") || strings.Contains(text, "\nscore:") {
		t.Errorf("after 90 ms for one visitor:\n%s", text)
	}
}

// Applications refuse writes that do not come from a page of their own: they are told by
// Origin, which browsers send with every write, or by Referer. Both are those of the
// service that the load goes to, not of the one that was recorded.
func TestWritesSayThatTheyAreOfAnOwnPage(t *testing.T) {
	post := func(headers ...harHeader) string {
		e := entryOf(2, "POST", "/save", "a=1", "text/html", "ok")
		e.Request.Headers = headers
		get := entryOf(1, "GET", "/form", "", "text/html", "x")
		get.Request.Headers = []harHeader{{Name: "Origin", Value: "http://app.test"}, {Name: "Referer", Value: "http://app.test/"}}
		_, text := drafted(t, get, e)
		return text
	}
	referer := harHeader{Name: "Referer", Value: "http://app.test/form?page=1"}
	for want, text := range map[string]string{
		`"Origin": "${base}"`:       post(referer, harHeader{Name: "Origin", Value: "http://app.test"}),
		`"Referer": "${base}/form"`: post(referer),
	} {
		if !strings.Contains(text, want) || strings.Count(text, "${base}") != 1 {
			t.Errorf("no %s alone in\n%s", want, text)
		}
	}
	if text := post(harHeader{Name: "Origin", Value: "http://app.test.other"}, harHeader{Name: "Referer", Value: "http://ads.test/form"}); strings.Contains(text, "${base}") {
		t.Errorf("a write from another site's page passes as one of an own page:\n%s", text)
	}
}

// A GraphQL request that does not name its operation is told by its document: by the
// operation's name, or by the first field of one that has none.
func TestGraphQLOperations(t *testing.T) {
	for document, want := range map[string]string{
		"query Products($n: Int) { products(take: $n) { id } }":               "Products",
		"\n  # all of them\n  query\n Products { products { id } }":           "Products",
		"mutation AddToCart($id: ID!) @slow { add(id: $id) { total } }":       "AddToCart",
		"{ mine: activeOrder { id } }":                                        "activeOrder",
		"query ($id: ID!) { product(id: $id) { name } }":                      "product",
		"fragment P on Product { id name }\nquery Search { search { ...P } }": "Search",
		"red chairs":                   "",
		"query of the day":             "",
		"select * from products":       "",
		"fragment P on Product { id }": "",
	} {
		if got := graphQLName(document); got != want {
			t.Errorf("%q is %q, not %q", document, got, want)
		}
	}
	ask := func(at int, document string) harEntry {
		body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]int{"n": at}})
		if err != nil {
			t.Fatal(err)
		}
		e := entryOf(at, "POST", "/graphql", "", "application/json", `{"data": {"n": 1}}`)
		e.Request.Post = &harPost{Type: "application/json", Text: string(body)}
		return e
	}
	_, text := drafted(t, ask(1, "query Products { products { id } }"), ask(2, "{ activeOrder { id } }"))
	for _, want := range []string{"route: POST /graphql operationName=Products", "route: POST /graphql operationName=activeOrder", `not_contains: "\"errors\":["`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
