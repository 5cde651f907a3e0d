package record

import (
	"strings"
	"testing"
)

// leaks are the marks of secrets in the sources below.
var leaks = []string{"sk_live", "s3cret", "hunter2"}

// TestNoSecretIsWritten: wherever a secret stands in a source, no written file
// and no sentence of the report has it.
func TestNoSecretIsWritten(t *testing.T) {
	secretVariable := func(item string) string {
		return `{"info":{"name":"C"},"variable":[{"key":"base","value":"http://a.test"},{"key":"mine","value":"sk_live_1","type":"secret"},{"key":"auth-key","value":"sk_live_2"}],"item":[` + item + `]}`
	}
	header := func(name, value string) string {
		return `<HeaderManager testname="h" enabled="true"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">` + name +
			`</stringProp><stringProp name="Header.value">` + value + `</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>`
	}
	for _, c := range []struct {
		name string
		read from
		text string
		want []string // in the scenario
	}{
		{"curl: a bare Authorization", FromCurl, "curl https://a.test/x -H 'Authorization: sk_live_51Habc'", []string{`"Authorization": "FILL-IN"`}},
		{"curl: a scheme that nobody registered", FromCurl, "curl https://a.test/x -H 'Authorization: sk_live_51 x'", []string{`"Authorization": "FILL-IN"`}},
		{"curl: a registered scheme", FromCurl, "curl https://a.test/x -H 'Authorization: dpop sk_live_51'", []string{`"Authorization": "DPoP FILL-IN"`}},
		{"curl: only the name of a scheme", FromCurl, "curl https://a.test/x -H 'Authorization: Bearer'", []string{`"Authorization": "FILL-IN"`}},
		{"curl: cookies", FromCurl, "curl https://a.test/x -b sid=s3cret -H 'Cookie: a=s3cret' -H 'cookie2: s3cret'", nil},
		{"curl: query keys", FromCurl, "curl 'https://a.test/x?api_key=sk_live_1&sig=s3cret&authKey=s3cret&x-functions-key=s3cret&code_auth=s3cret&privatekey=s3cret&appid=s3cret&card%5Bcvc%5D=s3cret'", []string{"api_key=masked"}},
		{"curl: names of headers", FromCurl, "curl https://a.test/x -H 'X-Auth-Key: s3cret' -H 'Ocp-Apim-Subscription-Key: s3cret' -H 'X-Functions-Key: s3cret' -H 'X-Auth: s3cret' -H 'My-Signature: s3cret'", []string{`"X-Auth": "masked"`}},
		{"curl: a scheme in another header", FromCurl, "curl https://a.test/x -H 'X-Upstream: Bearer s3cret'", []string{`"X-Upstream": "masked"`}},
		{"curl: an assignment", FromCurl, "API_KEY=sk_live_abc\nexport T=s3cret\nsk_live_x\n'Authorization: Bearer s3cret'\n-us3cret:x\ncurl https://a.test/x", nil},
		{"curl: a variable's default", FromCurl, "curl \"https://a.test/x?q=${K:-sk_live_1}&z=$(echo s3cret)\"", []string{"q=FILL-IN"}},
		{"curl: a header without a colon", FromCurl, "curl https://a.test/x -H sk_live_1 -H '{\"a s3cret\": 1}'", nil},
		{"curl: a header without quotes", FromCurl, "curl -H Authorization: Bearer sk_live_1 https://a.test/x", nil},
		{"curl: an option of another program", FromCurl, "curl https://a.test/x --header=X:s3cret --auth-token sk_live_1", nil},
		{"curl: a part without a name", FromCurl, "curl https://a.test/x -F s3cret", nil},
		{"curl: a method", FromCurl, "curl https://a.test/y; curl https://a.test/x -X 'GET s3cret'", nil},
		{"curl: basic in the address", FromCurl, "curl https://eve:hunter2@a.test/x; curl eve:hunter2@a.test/y; curl https://eve:hunter2@b.test/y", []string{`"Authorization": "Basic FILL-IN"`}},
		{"curl: JSON", FromCurl, `curl https://a.test/x --json '{"access_token":"s3cret","deep":[{"clientSecret":"s3cret","pin":["s3cret"]}]}'`, []string{`"access_token": "masked"`}},
		{"curl: a query in JSON", FromCurl, `curl https://a.test/x --json '{"query":"mutation { login(password: \"hunter2\") }","next":"/y?api_key=sk_live"}'`, nil},
		{"curl: a form in a text", FromCurl, `curl https://a.test/x -H 'Content-Type: text/plain' -d 'a=1&password=hunter2'`, []string{"a=1&password=masked"}},
		{"curl: a body that is lost", FromCurl, "curl 'https://a.test/x?token=s3cret' -H 'Content-Type: text/plain' -d \x01\xff" + strings.Repeat("x", maxRecordedBody+1), []string{"The body is missing"}},
		{"postman: a bare Authorization", FromPostman, collection(`{"name":"a","request":{"method":"GET","header":[{"key":"Authorization","value":"sk_live_1"}],"url":"http://a.test/x"}}`), []string{`"Authorization": "FILL-IN"`}},
		{"postman: secret variables", FromPostman, secretVariable(`{"name":"a","request":{"method":"POST","header":[{"key":"X-Mine","value":"{{mine}}"},{"key":"X-Other","value":"{{auth-key}}"}],"url":"{{base}}/h/{{mine}}?q={{mine}}","body":{"mode":"raw","raw":"{\"a\":\"{{mine}}\"}"}}}`),
			[]string{"POST /h/masked?q=masked", `"X-Mine": "masked"`, `"X-Other": "masked"`, `json: {"a": "masked"}`}},
		{"postman: secret variables in others", FromPostman, strings.Replace(secretVariable(`{"name":"a","request":"{{base}}/x?q={{other}}"}`), `"variable":[`, `"variable":[{"key":"other","value":"a-{{mine}}"},`, 1), []string{"GET /x?q=a-masked"}},
		{"postman: authorizations", FromPostman, collection(`{"name":"a","request":{"method":"GET","auth":{"type":"bearer","bearer":[{"key":"token","value":"s3cret"}]},"url":"http://a.test/x"}},
			{"name":"b","request":{"method":"GET","auth":{"type":"basic","basic":[{"key":"password","value":"hunter2"}]},"url":"http://a.test/y"}},
			{"name":"c","request":{"method":"GET","auth":{"type":"apikey","apikey":[{"key":"key","value":"X-K"},{"key":"value","value":"sk_live"}]},"url":"http://a.test/z"}}`), []string{"Bearer FILL-IN", "Basic FILL-IN", `"X-K": "FILL-IN"`}},
		{"postman: a path variable", FromPostman, collection(`{"name":"a","request":{"method":"GET","url":{"raw":"http://a.test/:token/x","variable":[{"key":"token","value":"s3cret"}]}}}`), []string{"GET /masked/x"}},
		{"jmeter: a bare Authorization", FromJMeter, plan(header("Authorization", "sk_live_1") + jmxRequest("a", "/a", "GET", "")), []string{`"Authorization": "FILL-IN"`}},
		{"jmeter: the authorization manager", FromJMeter, plan(`<AuthManager testname="m" enabled="true"><collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization"><stringProp name="Authorization.url">http://a.test</stringProp><stringProp name="Authorization.username">eve</stringProp><stringProp name="Authorization.password">hunter2</stringProp></elementProp></collectionProp></AuthManager><hashTree/>` + jmxRequest("a", "/a", "GET", "")),
			[]string{`"Authorization": "Basic FILL-IN"`}},
		{"jmeter: variables and properties", FromJMeter, plan(`<Arguments testname="v" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="api.key" elementType="Argument"><stringProp name="Argument.name">api.key</stringProp><stringProp name="Argument.value">sk_live_1</stringProp></elementProp></collectionProp></Arguments><hashTree/>` +
			header("X-A", "${api.key}") + header("X-B", "${__P(my.password,hunter2)}") + header("X-C", "${__base64Encode(eve:s3cret)}") + jmxRequest("a", "/a", "GET", "")), []string{`"X-A": "masked"`, `"X-B": "masked"`, `"X-C": "FILL-IN"`}},
		{"k6: params.headers", FromK6, script("http.get(B + '/a', {headers: {Authorization: 'sk_live_1', 'X-Auth-Key': 's3cret', cookie: 'a=s3cret'}, cookies: {sid: 's3cret'}});"), []string{`"Authorization": "FILL-IN"`, `"X-Auth-Key": "masked"`}},
		{"k6: constants", FromK6, "const API_KEY = 'sk_live_1'; const authToken = __ENV.T || 's3cret';\n" + script("http.get(`${B}/h/${API_KEY}?q=${authToken}`, {headers: {'X-A': API_KEY}});"), []string{"GET /h/masked?q=masked", `"X-A": "masked"`}},
		{"k6: a text as the body", FromK6, script("http.post(B + '/a', 'user=a&password=hunter2');"), []string{"password=masked"}},
		{"k6: a call that is not known", FromK6, script("http.get(B + '/a?x=' + hmac('s3cret', \"sk_live\"));"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.read(strings.NewReader(c.text), ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			written(t, d)
			told := strings.Join(append(append([]string{string(d.Scenario())}, d.LeftOut...), d.Notes...), "\n")
			for _, f := range d.Files {
				told += string(f.Data)
			}
			for _, leak := range leaks {
				if strings.Contains(strings.ToLower(told), leak) {
					t.Errorf("%s is written or told:\n%s", leak, told)
				}
			}
			want(t, "the scenario", string(d.Scenario()), c.want...)
		})
	}
}

// TestNoSecretInErrors: nor has the error of a source of which nothing can be
// taken.
func TestNoSecretInErrors(t *testing.T) {
	for _, text := range []string{"API_KEY=sk_live_1", "curl sk_live_1", "curl -H X: sk_live_1", "curl https://a.test/x -X 'sk_live'", "curl 'http://eve:hunter2@[a/x'"} {
		if _, err := FromCurl(strings.NewReader(text), ClientOptions{}); err == nil || strings.Contains(strings.ToLower(err.Error()), "sk_live") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestSecretsKept: --keep-secrets takes what is masked else, but of
// Authorization only user and password (TestGivenBasicIsTakenOver).
func TestSecretsKept(t *testing.T) {
	d, err := FromPostman(strings.NewReader(`{"info":{"name":"C"},"variable":[{"key":"mine","value":"kept","type":"secret"}],"item":[{"name":"a","request":{"method":"GET","header":[{"key":"X-Mine","value":"{{mine}}"},{"key":"Authorization","value":"sk_live_1"}],"url":"http://a.test/x"}}]}`),
		ClientOptions{KeepSecrets: true})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), `"X-Mine": "kept"`, `"Authorization": "FILL-IN"`)
}

// TestSecretNames: what is a secret by its name, and what is none.
func TestSecretNames(t *testing.T) {
	for name, secret := range map[string]bool{"X-Auth-Key": true, "x_api_key": true, "authKey": true, "clientSecret": true, "AWSAccessKeyId": true, "X-Hub-Signature-256": true, "sig": true, "a.sig": true,
		"X-Goog-Api-Key": true, "x-auth": true, "PRIVATE_KEY": true, "appKEY": true,
		"author": false, "monkey": false, "keyword": false, "design": false, "spin": false, "Accept": false, "q": false} {
		if isSecret(name) != secret {
			t.Errorf("isSecret(%q) = %t", name, !secret)
		}
	}
}
