package record

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Who logs in comes from a pool, so that a load's users need not all be one; who registers
// or changes a password does not.
func TestLoginsDrawAccounts(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"success": true, "data": []}`))
	}))
	defer site.Close()
	for _, c := range []struct {
		name, kind, body string
		step, csv        string // parts of the scenario; "" for csv: no pool
	}{
		{"form", formType, "name=ann&password=s3cret&_submit=Go", `"name": "${account.name}"`, "name,password\nann,masked\n"},
		{"nested", formType, "user%5Bemail%5D=ann%40example.org&user%5Bpassword%5D=s3cret", `"user[password]": "${account.password}"`, "email,password\nann@example.org,masked\n"},
		{"json", "application/json", `{"password":"s3cret","email":"ann@example.org","remember":true}`, `"email": "${account.email}"`, "email,password\nann@example.org,masked\n"},
		{"another name", formType, "to=&alias=ann&pass=s3cret&remember=yes&csrf_token=aabbccdd", `"alias": "${account.alias}"`, "alias,pass\nann,masked\n"},
		{"another name in json", "application/json", `{"handle":"ann","password":"s3cret","locale":"en_GB"}`, `"handle": "${account.handle}"`, "handle,password\nann,masked\n"},
		{"two that it could be", formType, "alias=ann&town=Kyoto&pass=s3cret", `"alias": "ann"`, ""},
		{"registration", formType, "name=ann&password=s3cret&password=s3cret", `"name": "ann"`, ""},
		{"another form", formType, "name=ann&city=Kyoto", `"name": "ann"`, ""},
		{"change", "application/json", `{"password":"s3cret","confirm":"s3cret"}`, `"password": "masked"`, ""},
	} {
		r := newRecorder(t)
		r.do("POST", site.URL+"/login", c.kind, c.body)
		d, err := FromHAR(r.har(), HAROptions{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		text := string(d.Files[0].Data)
		if !strings.Contains(text, c.step) || strings.Contains(text, "s3cret") {
			t.Errorf("%s: no %s in\n%s", c.name, c.step, text)
		}
		switch {
		case c.csv == "" && len(d.Files) != 1:
			t.Errorf("%s: a pool\n%s", c.name, d.Files[1].Data)
		case c.csv == "":
		case len(d.Files) != 2 || string(d.Files[1].Data) != c.csv || !strings.Contains(text, "draw: {account: accounts}"):
			t.Errorf("%s: %d files\n%s", c.name, len(d.Files), text)
		case !strings.Contains(strings.Join(d.Notes, "\n"), "pools/accounts.csv"):
			t.Errorf("%s: nobody says where accounts go: %q", c.name, d.Notes)
		}
		if err := d.check(t.TempDir()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What belongs to who logs in is asked for by the name of who does: as the recorded one,
// everybody else would be refused. What was asked for before stays.
func TestAccountsAskForTheirOwn(t *testing.T) {
	_, text := drafted(t,
		entryOf(1, "GET", "/writer21/", "", "text/html", "<html>anybody</html>"),
		entryOf(2, "POST", "/login", "alias=writer21&pass=x1", "text/html", "ok"),
		entryOf(3, "GET", "/me/c/writer21/stats", "", "text/html", "<html>mine</html>"),
		entryOf(4, "GET", "/find?of=writer21&writer21=1", "", "text/html", "<html>mine</html>"),
		entryOf(5, "POST", "/share", "from=writer21&text=by+writer21", "text/html", "<html>ok</html>"),
		entryOf(6, "GET", "/writer212/", "", "text/html", "<html>another</html>"))
	for _, want := range []string{"request: GET /writer21/\n", "request: GET /me/c/${account.alias}/stats", "route: GET /me/c/:alias/stats", "request: GET /find?of=${account.alias}&writer21=1",
		`"from": "${account.alias}"`, `"text": "by writer21"`, "request: GET /writer212/\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"ann", "manager", "4711"} {
		_, text := drafted(t, entryOf(1, "POST", "/login", "user="+name+"&pass=x1", "text/html", "ok"), entryOf(2, "GET", "/a/"+name+"/b", "", "text/html", "<html>x</html>"))
		if !strings.Contains(text, "GET /a/"+name+"/b") {
			t.Errorf("%s is a word of addresses:\n%s", name, text)
		}
	}
}

// The name that a service gives a new thing is taken from its answer: the next one of the
// same title has another one.
func TestNamesOfNewThings(t *testing.T) {
	created := entryOf(2, "POST", "/api/posts", "title=A+day+out", "application/json", `{"data":{"id":"rxvz1sntyf","slug":"a-day-out","title":"daybreak"}}`)
	_, text := drafted(t, entryOf(1, "GET", "/shown-before", "", "text/html", "<html></html>"), created,
		entryOf(3, "GET", "/blog/a-day-out", "", "text/html", "<html>A</html>"), entryOf(4, "GET", "/p/rxvz1sntyf/edit", "", "text/html", "<html>B</html>"),
		entryOf(5, "GET", "/blog/daybreak", "", "text/html", "<html>C</html>"))
	for _, want := range []string{"request: GET /blog/${slug}", "route: GET /blog/:slug\n", `slug: {json: "$.data.slug"}`, "request: GET /p/${id}/edit", "request: GET /blog/daybreak"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, text = drafted(t, entryOf(1, "GET", "/blog/a-day-out", "", "text/html", "<html></html>"), created, entryOf(3, "GET", "/blog/a-day-out", "", "text/html", "<html>A</html>"))
	if strings.Contains(text, "${slug}") {
		t.Errorf("a name that was asked for before is another thing's:\n%s", text)
	}
}

// An answer that says success: true is only right if the next one says so as well.
func TestRightAnswerIsTrue(t *testing.T) {
	for body, want := range map[string]string{
		`{"success": true, "data": 1}`: `"success": true`, `{"ok":true}`: `"ok":true`, `{"success": false}`: `"success"`,
		`{"items": [true]}`: `"items"`, "{\"ok\":\n true}": `"ok"`, `{"7": true}`: "", `{"error": true}`: "",
	} {
		if got := firstField(body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
