package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A server that was started anew with other columns, as IIS writes it.
const w3cExample = `#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2024-05-12 10:00:00
#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken
2024-05-12 10:00:00 10.0.0.1 GET /items/1 q=1 443 - 2001:db8::5 Mozilla/5.0+(X) - 200 0 0 15
2024-05-12 10:00:01 10.0.0.1 GET /a%20b - 443 SHOP\bob 192.0.2.9 - - 500 0 64 30001
#Software: Microsoft Internet Information Services 10.0
#Fields: time date cs-uri-query cs-method cs-uri-stem time-taken sc-status sc-bytes cs-host c-ip
10:01:00 2024-05-12 - POST /cart 7 302 512 shop.example 192.0.2.9
10:01:01 2024-05-12 too few
`

func TestW3CColumnsChange(t *testing.T) {
	format, lines := reads(t, strings.ReplaceAll(w3cExample, "\n", "\r\n"))
	want := []string{
		"10:00:00.000 2001:db8::5 GET /items/1?q=1 200 -1 15000/-1 ",
		"10:00:01.000 192.0.2.9 GET /a%20b 500 -1 30001000/-1 ",
		"10:01:00.000 192.0.2.9 POST /cart 302 512 7000/-1 shop.example",
		"refused: " + whyColumns,
	}
	if format != "iis" || !slices.Equal(lines, want) {
		t.Errorf("%s\ngot  %s\nwant %s", format, strings.Join(lines, "\n     "), strings.Join(want, "\n     "))
	}
}

// The unit of time-taken is that of the program: CloudFront and the draft write
// seconds. A log whose begin is lost has the columns that both write unasked.
func TestW3CUnits(t *testing.T) {
	cloudfront := strings.ReplaceAll("2019-12-04 21:02:31 LAX1 392 2001:db8::5 GET d1.cloudfront.net /index.html 200 - Mozilla/5.0%20(X) a=b - Hit SOX4== shop.example https 23 0.001 - TLSv1.2 ECDHE Hit HTTP/2.0 - - 11040 0.001 Hit text/html 78 - -\n", " ", "\t")
	for _, c := range []struct{ name, log, format, want string }{
		{"CloudFront", "#Version: 1.0\n#Fields: " + usualFields[1] + "\n" + cloudfront, "cloudfront", "21:02:31.000 2001:db8::5 GET /index.html?a=b 200 392 1000/-1 shop.example"},
		{"CloudFront without its begin", cloudfront, "cloudfront", "21:02:31.000 2001:db8::5 GET /index.html?a=b 200 392 1000/-1 shop.example"},
		{"IIS without its begin", "2024-05-12 10:00:00 10.0.0.1 GET /a - 80 - 192.0.2.9 - - 200 0 0 15\n", "iis", "10:00:00.000 192.0.2.9 GET /a 200 -1 15000/-1 "},
		{"IIS by its name", "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n2024-05-12 10:00:00 192.0.2.9 GET /a 200 15\n", "iis", "10:00:00.000 192.0.2.9 GET /a 200 -1 15000/-1 "},
		{"the draft", "#Fields: date time c-ip cs-method cs-uri sc-status time-taken\n2024-05-12 10:00:00 192.0.2.9 GET /a?b=c 200 0.015\n", "w3c", "10:00:00.000 192.0.2.9 GET /a?b=c 200 -1 15000/-1 "},
	} {
		format, lines := reads(t, c.log)
		if format != c.format || len(lines) != 1 || lines[0] != c.want {
			t.Errorf("%s: %s %q, want %s %q", c.name, format, lines, c.format, c.want)
		}
	}
}

// A log of a server that nobody asked yet.
func TestW3COnlyHeader(t *testing.T) {
	if format, lines := reads(t, "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method cs-uri-stem sc-win32-status\n"); format != "iis" || len(lines) != 0 {
		t.Errorf("%s %q", format, lines)
	}
}

func TestLastHeader(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"", ""},
		{"a #Fields: x\n", ""},
		{"#Fields: a\r\n1\n#Fields: b c\n2\nsee #Fields: d\n", "#Fields: b c"},
	} {
		if got := string(LastHeader([]byte(c.lines))); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}

// In a long log the lines that are looked at are drawn from all; the names of
// the columns must be among them.
func TestW3CLongLog(t *testing.T) {
	log := w3cExample[:strings.Index(w3cExample, "2024-05-12 10:00:01")] + strings.Repeat("2024-05-12 10:00:02 10.0.0.1 GET /items/1 q=1 443 - 192.0.2.9 - - 200 0 0 15\n", 2000)
	if f, err := Detect([]byte(log)); err != nil || f.Name != "iis" {
		t.Errorf("%+v %v", f, err)
	}
}

// CloudFront's tabs may have become blanks.
func TestCloudFrontWithoutTabs(t *testing.T) {
	log := "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs-uri-query x-edge-result-type time-taken\n" +
		"2024-05-12      09:50:40        FRA2    7100    192.0.2.7    GET     d1.cloudfront.net   /a     200     b=c       Hit        0.049\n"
	format, lines := reads(t, log)
	if want := []string{"09:50:40.000 192.0.2.7 GET /a?b=c 200 7100 49000/-1 "}; format != "cloudfront" || fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%s %q, want cloudfront %q", format, lines, want)
	}
}
