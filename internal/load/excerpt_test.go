package load

import "testing"

// What a wrong answer says is quoted: its title, else its first words without markup.
func TestExcerpt(t *testing.T) {
	for _, c := range []struct{ kind, body, want string }{
		{"text/html; charset=utf-8", "<!DOCTYPE html><head><style>b{}</style><title>\n Log  in &amp; go</title></head><body>much", "title Log in & go"},
		{"text/html", "<b>Error: Deadlock found when trying to get lock<br/>Error No: 1213</b>", "Error: Deadlock found when trying to get lock Error No: 1213"},
		{"text/html", "<script>var a = 'no'</script><p>yes</p>", "yes"},
		{"application/json", "{\"error\":\n  \"no stock\"}", `{"error": "no stock"}`},
		{"image/png", "\x89PNG", ""},
		{"", "plain", "plain"},
		{"text/html", "", ""},
	} {
		if got := excerpt([]byte(c.body), []byte(c.kind)); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.kind, c.body, got, c.want)
		}
	}
}
