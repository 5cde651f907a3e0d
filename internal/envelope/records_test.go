package envelope

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func recordsOf(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	err := Records(strings.NewReader(text), func(r []byte) error {
		out = append(out, string(r))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// The forms in which exports put objects around and beside entries.
func TestRecords(t *testing.T) {
	one, two := `{"path":"/a","status":200}`, `{"path":"/b, }]","status":404}`
	both := []string{one, two}
	pretty := "{\n  \"path\": \"/a\",\n  \"status\": 200\n}"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one a line":          {one + "\n" + two + "\n", both},
		"side by side":        {one + two, both},
		"a list":              {"[" + one + "," + two + "]", both},
		"a list over lines":   {"[\n" + pretty + ",\n" + two + "\n]\n", both},
		"objects over lines":  {pretty + "\n" + two, both},
		"record separators":   {"\x1e" + one + "\n\x1e" + two + "\n", both},
		"Azure":               {`{"records":[` + one + "," + two + `]}`, both},
		"CloudTrail":          {`{"Records": [` + one + "]}\n{\"Records\":[" + two + "]}", both},
		"Elasticsearch":       {`{"took":3,"hits":{"total":{"value":2},"hits":[` + one + "," + two + `]}}`, both},
		"no list of entries":  {`{"path":"/a","items":[{"id":1}]}`, []string{`{"path":"/a","items":[{"id":1}]}`}},
		"a list in an entry":  {`[{"path":"/a","items":[{"id":1}]}]`, []string{`{"path":"/a","items":[{"id":1}]}`}},
		"an empty list":       {`{"records":[]}`, []string{`{"records":[]}`}},
		"Insights":            {`{"results":[[{"field":"@message","value":"x y"},{"field":"@ptr","value":"1"}]],"status":"Complete"}`, []string{`{"@message":"x y","@ptr":"1"}`}},
		"Loki":                {`{"status":"success","data":{"result":[{"stream":{"app":"a"},"values":[["17","GET /"],["18","GET /b"]]}]}}`, []string{`{"line":"GET /","timestamp":"17"}`, `{"line":"GET /b","timestamp":"18"}`}},
		"texts":               {`["GET /a\n", "GET /b"]`, []string{"GET /a", "GET /b"}},
		"a line between":      {one + "\nstarted\n" + two, []string{one, "started", two}},
		"cut within a text":   {`{"path":"/a` + "\n" + two + "\n", []string{`{"path":"/a`, two}},
		"a quote in a text":   {`[{"path":"/a\"]}"}]`, []string{`{"path":"/a\"]}"}`}},
		"a byte order mark":   {"\xef\xbb\xbf[" + one + "]", []string{one}},
		"numbers between":     {`[1, ` + one + `, null, ` + two + `]`, both},
		"blanks within texts": {"{\"path\": \"/a  b\"\n}", []string{`{"path":"/a  b"}`}},
	} {
		if got := recordsOf(t, c.text); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q are %q, want %q", name, c.text, got, c.want)
		}
	}
}

// What is cut at the end is given out, and told.
func TestRecordsCut(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}{"b":"x`:      `[{"a":1} {"b":"x]`,
		`[{"a":1},{"b":[1,2`:  `[{"a":1} {"b":[1,2]`,
		`{"records":[{"a":1}`: `[{"a":1}]`,
	} {
		var got []string
		err := Records(strings.NewReader(text), func(r []byte) error { got = append(got, string(r)); return nil })
		if !errors.Is(err, io.ErrUnexpectedEOF) || fmt.Sprint(got) != want {
			t.Errorf("%s: %q, %v; want %s and that it ends too early", text, got, err, want)
		}
	}
}

// zeros is a text without an end.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	z.n += int64(len(p))
	return len(p), nil
}

// A value that does not end is refused before it fills the memory.
func TestRecordsAreBounded(t *testing.T) {
	for _, begin := range []string{`{"a":"`, `[{"a":"`, `[[`, `["`} {
		z := &zeros{}
		err := Records(io.MultiReader(strings.NewReader(begin), z), func([]byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "longer than 8 MiB") || z.n > 2*longestValue {
			t.Errorf("%s…: %v after %d bytes", begin, err, z.n)
		}
	}
	for _, deep := range []string{"[", `{"a":`, `{"hits":`} {
		err := Records(strings.NewReader("["+strings.Repeat(deep, 5000)), func([]byte) error { return nil })
		if !errors.Is(err, errNested) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s…: %v", deep, err)
		}
	}
}

func FuzzRecords(f *testing.F) {
	for _, s := range []string{`{"records":[{"a":1},[{"field":"x","value":1}]]}`, "[\"a\n", `{"a":"\`, `]}{`, `{"hits":{"hits":[{"values":[["1","b"]]}]}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_ = Records(strings.NewReader(text), func(r []byte) error {
			if strings.Contains(string(r), "\n") {
				t.Fatalf("a record of %q has a line's end: %q", text, r)
			}
			return nil
		})
		if table := TableOf([]byte(text)); table != nil {
			err := table.Rows(strings.NewReader(text), func(r []byte) error {
				if table.Named() && len(r) > 0 && r[0] == '{' && strings.Contains(string(r), "\n") {
					t.Fatalf("a row of %q has a line's end: %q", text, r)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
