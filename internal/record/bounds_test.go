package record

import (
	"fmt"
	"strings"
	"testing"
)

// TestSmallSourcesOfEndlessValues: what a few lines can mean is bounded. Each
// of these took hours, all memory, or the stack.
func TestSmallSourcesOfEndlessValues(t *testing.T) {
	var postmanVars, empty, jmeterVars strings.Builder
	for i := range 10 {
		fmt.Fprintf(&postmanVars, `{"key":"a%d","value":"%s"},`, i, strings.Repeat(fmt.Sprintf("{{a%d}}x", i+1), 100))
		fmt.Fprintf(&empty, `{"key":"a%d","value":"%s"},`, i, strings.Repeat(fmt.Sprintf("{{a%d}}", i+1), 100))
		fmt.Fprintf(&jmeterVars, `<elementProp name="" elementType="Argument"><stringProp name="Argument.name">a%d</stringProp><stringProp name="Argument.value">%s</stringProp></elementProp>`,
			i, strings.Repeat(fmt.Sprintf("${a%d}x", i+1), 100))
	}
	doubled := "const a0 = {x: 'y'};\n"
	joined := "const a0 = 'xy';\n"
	for i := range 40 {
		doubled += fmt.Sprintf("const a%d = {x: a%d, y: [a%d]};\n", i+1, i, i)
		joined += fmt.Sprintf("const a%d = a%d + a%d;\n", i+1, i, i)
	}
	vars := func(list, use string) string {
		return `{"info":{"name":"C"},"variable":[` + list + `{"key":"a10","value":""}],"item":[{"name":"a","request":{"method":"POST","url":"http://a.test/x","body":{"mode":"raw","raw":"` + use + `"}}}]}`
	}
	for _, c := range []struct {
		name   string
		read   from
		text   string
		report string
	}{
		{"postman: variables in variables", FromPostman, vars(postmanVars.String(), "{{a0}}"), "a text is longer than 32 KiB with its variables"},
		{"postman: empty variables in variables", FromPostman, vars(empty.String(), "{{a0}}"), "a text is longer than 32 KiB with its variables"},
		{"postman: a variable in itself", FromPostman, vars(`{"key":"b","value":"{{b}}"},`, "{{b}}"), "the variable b has no value"},
		{"jmeter: variables in variables", FromJMeter, plan(`<Arguments testname="v" enabled="true"><collectionProp name="Arguments.arguments">` + jmeterVars.String() + `</collectionProp></Arguments><hashTree/>` +
			jmxRequest("a", "/a", "POST", arguments(argument("q", "${a0}", "")))), "a text is longer than 32 KiB with its variables"},
		{"k6: constants in constants", FromK6, doubled + script("http.post(B + '/a', JSON.stringify(a40)); http.post(B + '/b', a40); http.get(B + '/c?' + a40)"), "a large value"},
		{"k6: texts in texts", FromK6, joined + script("http.post(B + '/a', a40)"), "fill it in"},
		{"k6: signs", FromK6, "http.get('http://a.test/a');\nsleep(" + strings.Repeat("-", 1<<19), "a pause that is not fixed"},
		{"k6: brackets", FromK6, "http.get('http://a.test/a');\nsleep(" + strings.Repeat("([{a:", 200_000), "a pause that is not fixed"},
		{"k6: constants within each other", FromK6, "http.get('http://a.test/a');\n" + strings.Repeat("const a=(", 40_000), "too large or too deeply nested"},
		{"k6: calls within each other", FromK6, strings.Repeat("http.get('http://a.test/a',", 20_000), "too large or too deeply nested"},
		{"k6: templates within each other", FromK6, "http.get('http://a.test/a');\nsleep(" + strings.Repeat("`${", 100_000), "a pause that is not fixed"},
		{"curl: one long word", FromCurl, "curl http://a.test/a -d \"" + strings.Repeat("x", 1<<20) + "\"", "too large for a scenario"},
		{"curl: one long word for cmd.exe", FromCurl, "curl ^\"http://a.test/a^\" -d ^\"" + strings.Repeat("x", 1<<20) + "^\"", "too large for a scenario"},
		{"curl: open variables", FromCurl, "curl http://a.test/a; x " + strings.Repeat("${", 1<<17), "no curl command"},
		{"curl: an access log", FromCurl, "curl http://a.test/a\n" + strings.Repeat(`192.0.2.1 - - [17/May/2024:10:00:00 +0000] "GET / HTTP/1.1" 200 5`+"\n", 30_000), "more"},
		{"curl: many headers", FromCurl, "curl http://a.test/a" + manyOf(" -H a%d:b", 100_000), "those beyond the first 100"},
		{"curl: many addresses", FromCurl, "curl -G -d " + strings.Repeat("x", 5000) + strings.Repeat(" http://a.test/a", 25_000), "requests beyond the first 20000"},
		{"postman: one name", FromPostman, collection(strings.TrimSuffix(strings.Repeat(`{"name":"a","request":"http://a.test/a"},`, 20_000), ",")), "full"},
		{"jmeter: comments in a text", FromJMeter, plan(jmxRequest("a", "/a", "GET", "") + strings.Repeat("a<!-- -->", 1<<17)), "The thread group"},
		{"jmeter: header managers", FromJMeter, plan(manyOf(`<HeaderManager enabled="true"><collectionProp name="HeaderManager.headers"><a><a name="Header.name">b%d</a></a></collectionProp></HeaderManager>`, 20_000) + jmxRequest("a", "/a", "GET", "")), "headers beyond the first 100"},
		{"jmeter: parameters of the defaults", FromJMeter, strings.Replace(plan(strings.Repeat(jmxRequest("a", "/a", "POST", ""), 5000)), `guiclass="HttpDefaultsGui" enabled="true">`, `guiclass="HttpDefaultsGui" enabled="true">`+arguments(strings.Repeat(argument("k", "v", ""), 7000)), 1), "its parameters: the plan has too many"},
		{"jmeter: assertions of the plan", FromJMeter, plan(strings.Repeat(`<ResponseAssertion enabled="true"><a name="Asserion.test_strings"><a>204</a></a><a name="Assertion.test_field">Assertion.response_code</a></ResponseAssertion>`, 20_000) + jmxRequest("a", "/a", "GET", "")), "expect: {status: 204}"},
		{"k6: objects in themselves", FromK6, "http.get('http://a.test/a');\nconst o = {}, l = [];\no.a = o; o.b = o; l.push(l); l.push(l);\nhttp.post('http://a.test/b', JSON.stringify(o)); http.post('http://a.test/c', {l, o}); http.get('http://a.test/' + o)", "a large value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.read(strings.NewReader(c.text), ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Scenario()) > 256<<10 {
				t.Errorf("the scenario has %d bytes", len(d.Scenario()))
			}
			written(t, d)
			want(t, "the report", strings.Join(append(append(d.LeftOut, d.Notes...), string(d.Scenario())), "\n"), c.report)
		})
	}
}

func manyOf(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestLongPause: a pause longer than the longest is that one.
func TestLongPause(t *testing.T) {
	checkClient(t, FromK6, []clientCase{{"k6", script("http.get(B + '/a'); sleep(9999999999);"), []string{"think: " + ui(maxThink)}, ""}})
	checkClient(t, FromJMeter, []clientCase{{"jmeter", plan(jmxRequest("a", "/a", "GET", "") + `<ConstantTimer testname="t" enabled="true"><stringProp name="ConstantTimer.delay">99999999999999</stringProp></ConstantTimer><hashTree/>`), []string{"think: " + ui(maxThink)}, ""}})
}

// TestPatternSteps: repetitions of repetitions of nothing.
func TestPatternSteps(t *testing.T) {
	if text := patternText("(((^)*)*)*a", 10_000, -1); text != "" {
		t.Errorf("%d bytes are made", len(text))
	}
	if text := patternText("^[a-z]{3}-[0-9]+$", 6, 10); text == "" {
		t.Error("no text is made for a plain pattern")
	}
}
