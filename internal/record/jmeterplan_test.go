package record

import (
	"strings"
	"testing"
)

// headers are a header manager of these pairs.
func headerManager(pairs ...string) string {
	out := `<HeaderManager enabled="true"><collectionProp name="HeaderManager.headers">`
	for i := 0; i+1 < len(pairs); i += 2 {
		out += `<elementProp name=""><stringProp name="Header.name">` + pairs[i] + `</stringProp><stringProp name="Header.value">` + pairs[i+1] + `</stringProp></elementProp>`
	}
	return out + `</collectionProp></HeaderManager><hashTree/>`
}

// with puts elements below a request.
func with(request, below string) string {
	return strings.TrimSuffix(request, "<hashTree/>") + "<hashTree>" + below + "</hashTree>"
}

func timer(ms string) string {
	return `<ConstantTimer testname="t" enabled="true"><stringProp name="ConstantTimer.delay">` + ms + `</stringProp></ConstantTimer><hashTree/>`
}

// group adds elements behind the plan's thread group.
func behind(elements, more string) string {
	return strings.Replace(plan(elements), "</hashTree></hashTree></hashTree></jmeterTestPlan>", "</hashTree>"+more+"</hashTree></hashTree></jmeterTestPlan>", 1)
}

func TestJMeterPlanScopes(t *testing.T) {
	get := func(name string) string { return jmxRequest(name, "/"+name, "GET", "") }
	codes := func(kind, field string, list ...string) string {
		out := `<ResponseAssertion testname="codes" enabled="true"><collectionProp name="Asserion.test_strings">`
		for _, s := range list {
			out += `<stringProp name="1">` + s + `</stringProp>`
		}
		return out + `</collectionProp><stringProp name="Assertion.test_field">Assertion.` + field + `</stringProp><intProp name="Assertion.test_type">` + kind + `</intProp></ResponseAssertion><hashTree/>`
	}
	fragment := `<TestFragmentController testname="F" enabled="true"/><hashTree><GenericController testname="G" enabled="true"/><hashTree>` + get("infragment") + `</hashTree></hashTree>`
	call := `<ModuleController testname="M" enabled="true"><collectionProp name="ModuleController.node_path"><stringProp name="1">Test Plan</stringProp><stringProp name="2">P</stringProp><stringProp name="3">F</stringProp><stringProp name="4">G</stringProp></collectionProp></ModuleController><hashTree/>`
	checkClient(t, FromJMeter, []clientCase{
		{"groups of setup and teardown", behind(get("load"), `<SetupThreadGroup testname="S" enabled="true"/><hashTree>`+get("before")+`</hashTree><PostThreadGroup testname="E" enabled="true"/><hashTree>`+get("after")+`</hashTree>`),
			[]string{"sessions:\n  - name: T\n", "\nsetup:\n  # Line 6.\n  - name: before\n", "\nteardown:\n  # Line 6.\n  - name: after\n"}, ""},
		{"a fragment that is called", behind(call, fragment), []string{"- name: T\n", "request: GET /infragment"}, "its requests are sent only where a module controller calls them"},
		{"a fragment that nobody calls", behind(get("load"), fragment), []string{"in 1 sessions", "# 1 requests", "request: GET /load"}, `TestFragmentController "F"`},
		{"the nearest header", plan(headerManager("Accept", "text/html", "X-All", "1") + with(get("a"), headerManager("accept", "application/json"))), []string{`"X-All": "1"`, `"accept": "application/json"`}, ""},
		{"a pause of the thread group", plan(timer("300") + get("a") + get("b")), []string{"GET /a\n        think: 300ms", "GET /b\n        think: 300ms"}, ""},
		{"a pause before one request", plan(get("a") + with(get("b"), timer("700"))), []string{"GET /a\n        think: 700ms"}, ""},
		{"a pause as an action", plan(get("a") + `<TestAction testname="p" enabled="true"><intProp name="ActionProcessor.action">1</intProp><stringProp name="ActionProcessor.duration">450</stringProp></TestAction><hashTree/>` + get("b")), []string{"GET /a\n        think: 450ms"}, ""},
		{"parameters of the defaults", strings.Replace(plan(jmxRequest("p", "/p", "POST", arguments(argument("k", "v", "")))+jmxRequest("d", "/d", "DELETE", "")), `guiclass="HttpDefaultsGui" enabled="true">`, `guiclass="HttpDefaultsGui" enabled="true">`+arguments(argument("ver", "3", "")), 1), []string{`"k": "v"`, `"ver": "3"`, "DELETE /d?ver=3"}, ""},
		{"values that are encoded already", plan(jmxRequest("a", "/s", "GET", arguments(argument("e", "x%2Fy+z", `<boolProp name="HTTPArgument.always_encode">false</boolProp>`)+argument("flag", "", `<boolProp name="HTTPArgument.use_equals">false</boolProp>`)))), []string{"GET /s?e=x%2Fy+z&flag"}, ""},
		{"a file that is the body", plan(jmxRequest("a", "/b", "PUT", `<elementProp name="HTTPsampler.Files"><collectionProp name="HTTPFileArgs.files"><elementProp name="f"><stringProp name="File.path">x.csv</stringProp><stringProp name="File.paramname"></stringProp><stringProp name="File.mimetype">text/csv</stringProp></elementProp></collectionProp></elementProp>`)), []string{`"Content-Type": "text/csv"`, `body: "file"`, "Fill in the body."}, "the file x.csv"},
		{"parts of one name", plan(jmxRequest("a", "/m", "POST", `<boolProp name="HTTPSampler.DO_MULTIPART_POST">true</boolProp>`+arguments(argument("k", "v1", "")+argument("k", "v2", "")))), []string{`"k": ["v1", "v2"]`}, ""},
		{"properties in variables", strings.Replace(plan(jmxRequest("a", "/v/${v}", "GET", "")), argument("host", "a.test", ""), argument("host", "${__P(host,b.test)}", "")+argument("v", "${__property(v,,seven)}", ""), 1), []string{"requests to http://b.test:8080", "GET /v/seven"}, ""},
		{"response codes", plan(with(get("a"), codes("8", "response_code", "204")) + with(get("b"), codes("40", "response_code", "200", "404"))), []string{"expect: {status: 204}", "expect: {status: [200, 404]}"}, ""},
		{"other assertions", plan(with(get("a"), codes("12", "response_code", "500")) + with(get("b"), codes("2", "response_data", "200"))), []string{"GET /b"}, `ResponseAssertion "codes": an assertion`},
		{"digest", plan(`<AuthManager enabled="true"><collectionProp name="AuthManager.auth_list"><elementProp name=""><stringProp name="Authorization.mechanism">DIGEST</stringProp></elementProp></collectionProp></AuthManager><hashTree/>` + get("a")), []string{"GET /a\n"}, "digest authorization, which signs each request"},
		{"users that are not said", strings.Replace(plan(get("a")), "${__P(users,12)}", "", 1), []string{"GET /a"}, "does not say plainly how many users it has"},
	})
}

// Modules that call each other end.
func TestJMeterPlanModulesInThemselves(t *testing.T) {
	call := `<ModuleController testname="M" enabled="true"><collectionProp name="ModuleController.node_path"><stringProp name="1">P</stringProp><stringProp name="2">F</stringProp></collectionProp></ModuleController><hashTree/>`
	text := behind(jmxRequest("a", "/a", "GET", "")+call, `<TestFragmentController testname="F" enabled="true"/><hashTree>`+jmxRequest("b", "/b", "GET", "")+call+call+`</hashTree>`)
	d, err := FromJMeter(strings.NewReader(text), ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	want(t, "the report", strings.Join(d.LeftOut, "\n"), "what it refers to is not sent here")
}
