package record

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/load"
)

// counter is a service that answers everything with status 200 and says in errno whether it
// did it. Who logs in has an address and orders of their own; ids are numbers, as in most
// databases.
type counter struct {
	sync.Mutex
	next   int
	orders map[int]int // whose an order is
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.Lock()
	defer c.Unlock()
	answer := func(code int, data string) {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		fmt.Fprintf(w, `{"data":%s,"errno":%d,"errmsg":"x"}`, data, code)
	}
	user, _ := strconv.Atoi(strings.TrimPrefix(r.Header.Get("X-Shop-Token"), "user-token-of-"))
	var in struct {
		Name              string
		AddressID         int `json:"addressId"`
		OrderID           int `json:"orderId"`
		Number            int
		GoodsID           int    `json:"goodsId"`
		Password, Missing string `json:",omitempty"`
	}
	if r.Method == "POST" && r.ContentLength != 0 && json.NewDecoder(r.Body).Decode(&in) != nil { // a text for a number
		answer(402, "null")
		return
	}
	mine := func(text string) bool { id, _ := strconv.Atoi(text); return c.orders[id] == user && user > 0 }
	switch {
	case r.URL.Path == "/goods/list":
		answer(0, `{"list":[{"id":1,"goodsId":4711},{"id":2,"goodsId":4712}],"issue":[{"id":7}]}`)
	case r.URL.Path == "/auth/login":
		answer(0, `{"token":"user-token-of-`+strings.TrimPrefix(in.Name, "user")+`"}`)
	case user == 0:
		answer(501, "null")
	case r.URL.Path == "/address/list":
		answer(0, fmt.Sprintf(`{"total":1,"list":[{"id":%d,"name":"n","number":7}]}`, 70+user))
	case r.URL.Path == "/order/submit" && in.AddressID == 70+user && in.GoodsID == 4712 && in.Number == 7:
		c.next++
		c.orders[c.next] = user
		answer(0, fmt.Sprintf(`{"orderId":%d}`, c.next))
	case r.URL.Path == "/order/detail" && mine(r.URL.Query().Get("orderId")), strings.HasPrefix(r.URL.Path, "/orders/") && mine(strings.Split(r.URL.Path, "/")[2]),
		r.URL.Path == "/order/cancel" && c.orders[in.OrderID] == user:
		answer(0, `{"ok":1}`)
	default:
		answer(725, "null")
	}
}

// What a recorded visitor was given is asked for anew: the next one's address, and the order
// that the run itself makes. What all are shown before they log in stays. And an answer that
// says in its body that it failed is wrong, whatever its status.
func TestIdsOfEarlierAnswers(t *testing.T) {
	srv := httptest.NewServer(&counter{next: 130_000, orders: map[int]int{}})
	defer srv.Close()
	r := newRecorder(t)
	const typ = "application/json"
	r.do("GET", srv.URL+"/goods/list", "", "")
	r.do("POST", srv.URL+"/auth/login", typ, `{"name":"user1","password":"s3cret"}`)
	token := []string{"X-Shop-Token", "user-token-of-1"}
	r.do("GET", srv.URL+"/address/list?page=1", "", "", token...)
	r.do("POST", srv.URL+"/order/submit", typ, `{"addressId":71,"goodsId":4712,"number":7}`, token...)
	r.do("GET", srv.URL+"/order/detail?orderId=130001", "", "", token...)
	r.do("GET", srv.URL+"/orders/130001/steps", "", "", token...)
	r.do("POST", srv.URL+"/order/cancel", typ, `{"orderId":130001}`, token...)
	for _, e := range r.file.Log.Entries {
		if !strings.Contains(e.body, `"errno":0`) {
			t.Fatalf("%s: %s", e.Request.URL, e.body)
		}
	}
	d, err := FromHAR(r.har(), HAROptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(d.Scenario())
	want(t, "the scenario", text, `address-id: {json: "$.data.list[0].id"}`, `{"addressId": "${address-id:number}", "goodsId": 4712, "number": 7}`,
		`order-id: {json: "$.data.orderId"}`, "/order/detail?orderId=${order-id}", "/orders/${order-id}/steps", `{"orderId": "${order-id:number}"}`, `json: {"$.errno": 0}`)
	want(t, "the notes", strings.Join(d.Notes, "\n"), "2 ids of later requests are taken from earlier answers")
	for i, f := range d.Files {
		if strings.HasSuffix(f.Name, "accounts.csv") {
			d.Files[i].Data = []byte("name,password\nuser2,x\nuser3,x\n")
		}
	}
	_, s := written(t, d)
	run := func() (res *load.Result) {
		for window := 300 * time.Millisecond; window < 20*time.Second && (res == nil || res.Succeeded+res.Mismatches < 30); window *= 2 { // as long as a busy machine needs
			if res, err = load.Run(t.Context(), load.Options{Scenario: s, URL: srv.URL, Workload: 2, Warmup: -1, Window: window}); err != nil {
				t.Fatal(err)
			}
		}
		return res
	}
	if res := run(); res.Succeeded < 30 || res.Mismatches+res.Errors > 0 {
		t.Errorf("%d right, %d wrong: %+v\n%s", res.Succeeded, res.Mismatches, res.Samples, text)
	}
	for i, f := range d.Files {
		if strings.HasSuffix(f.Name, "accounts.csv") {
			d.Files[i].Data = []byte("name,password\nnobody,x\n")
		}
	}
	if _, s = written(t, d); run().Mismatches == 0 {
		t.Error("answers with errno 501 are right")
	}
}

// The id of what a form made is found in the page that shows it, and used from then on.
func TestIdsInLinks(t *testing.T) {
	var next int
	mux := http.NewServeMux()
	page := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Board</title>", body)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { page(w, `<a href="/topics/3">old</a>`) })
	mux.HandleFunc("POST /topics", func(w http.ResponseWriter, _ *http.Request) {
		next++
		page(w, fmt.Sprintf(`<a href="/topics/3">old</a><form action="/topics/%d/close"></form>`, 900+next))
	})
	mux.HandleFunc("POST /topics/{id}/close", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != strconv.Itoa(900+next) {
			http.Error(w, "closed", http.StatusConflict)
		}
	})
	mux.HandleFunc("GET /topics/3", func(w http.ResponseWriter, _ *http.Request) { page(w, "") })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	r := newRecorder(t)
	r.do("GET", srv.URL+"/", "", "")
	r.do("POST", srv.URL+"/topics", formType, "title=a")
	r.do("GET", srv.URL+"/topics/3", "", "")
	r.do("POST", srv.URL+"/topics/901/close", formType, "yes=1")
	// The first link with that begin in the answer is another one's: what stood there stays.
	if d, err := FromHAR(r.har(), HAROptions{}); err != nil || !strings.Contains(string(d.Scenario()), "POST /topics/901/close") {
		t.Errorf("%v\n%s", err, d.Scenario())
	}
	for i := range r.file.Log.Entries {
		a := &r.file.Log.Entries[i].Answer.Content
		a.Text = strings.ReplaceAll(a.Text, `<a href="/topics/3">old</a><form`, "<form")
	}
	d, err := FromHAR(r.har(), HAROptions{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), "request: POST /topics/${topic-id}/close", "request: GET /topics/3\n", `topic-id: {regexp: "[\"'= ]/topics/([^\"'/?#\\s&<>]+)"}`)
	if err := d.check(t.TempDir()); err != nil {
		t.Error(err)
	}
}

// A recorded refusal is told, and expected as it was.
func TestRecordedRefusal(t *testing.T) {
	srv := httptest.NewServer(&counter{orders: map[int]int{}})
	defer srv.Close()
	r := newRecorder(t)
	r.do("GET", srv.URL+"/address/list", "", "")
	d, err := FromHAR(r.har(), HAROptions{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), `json: {"$.errno": 501}`)
	want(t, "the notes", strings.Join(d.Notes, "\n"), "GET /address/list was refused when it was recorded: its answer says errno 501.")
}
