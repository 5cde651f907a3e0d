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
