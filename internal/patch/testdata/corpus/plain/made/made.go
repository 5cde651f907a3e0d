// Package made has handlers that make the same thing in each request.
package made

import (
	"fmt"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
)

// accountName answers whether a name may be registered.
//
// want P10
func accountName(w http.ResponseWriter, r *http.Request) {
	re := regexp.MustCompile(`\A[0-9a-zA-Z_]{3,}\z`)
	if !re.MatchString(r.FormValue("name")) {
		http.Error(w, "no", http.StatusBadRequest)
	}
}

// want P10
func links(text string) string {
	return regexp.MustCompile("#[a-z]+").ReplaceAllStringFunc(text, func(s string) string { return "<b>" + s + "</b>" })
}

const digits = `^\d+$`

// want P10
func number(w http.ResponseWriter, r *http.Request) {
	ok, _ := regexp.MatchString(digits, r.FormValue("n"))
	fmt.Fprint(w, ok, links(r.FormValue("text")))
}

// want P10
func word(w http.ResponseWriter, r *http.Request) {
	spaces, _ := regexp.Compile(`\s+`)
	fmt.Fprint(w, spaces.ReplaceAllString(r.FormValue("text"), " "))
}

func file(name string) string { return path.Join("templates", name) }

// want P10
func page(w http.ResponseWriter, r *http.Request) {
	funcs := template.FuncMap{
		"upper": strings.ToUpper,
	}
	err := template.Must(template.New("layout.html").Funcs(funcs).ParseFiles(
		file("layout.html"),
		file("page.html"),
	)).Execute(w, r.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

var front = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { header(w, r) })

// want P10
func header(w http.ResponseWriter, _ *http.Request) {
	t := template.Must(template.ParseFiles("head.html"))
	t.Execute(w, nil)
}

// want P10 refused: request
func start() *regexp.Regexp {
	re := regexp.MustCompile(`^a`)
	return re
}

// want P10 refused: arguments
func search(w http.ResponseWriter, r *http.Request) {
	re := regexp.MustCompile(`^` + regexp.QuoteMeta(r.FormValue("q")))
	fmt.Fprint(w, re.MatchString("abc"))
}

// want P10 refused: arguments
func local(w http.ResponseWriter, r *http.Request) {
	const pattern = `^[a-z]+$`
	re := regexp.MustCompile(pattern)
	fmt.Fprint(w, re.MatchString(r.FormValue("q")))
}

// want P10 refused: shared
func longest(w http.ResponseWriter, r *http.Request) {
	re := regexp.MustCompile(`a+|b`)
	if r.FormValue("longest") != "" {
		re.Longest()
	}
	fmt.Fprint(w, re.FindString(r.FormValue("q")))
}

// want P10 refused: error
func looked(w http.ResponseWriter, r *http.Request) {
	re, err := regexp.Compile(`a+`)
	if err != nil {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, re.FindString(r.FormValue("q")))
}

// want P10 refused: arguments
func theme(w http.ResponseWriter, r *http.Request) {
	template.Must(template.ParseFiles("layout.html", r.FormValue("theme")+".html")).Execute(w, nil)
}

// want P10 refused: arguments
func closure(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.New("a.html").Funcs(template.FuncMap{"user": func() string { return r.FormValue("user") }}).ParseFiles("a.html"))
	t.Execute(w, nil)
}

// want P10 refused: shared
func added(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.ParseFiles("a.html"))
	t.Parse(r.FormValue("more"))
	t.Execute(w, nil)
}

var folder = "templates"

func setFolder(name string) { folder = name }

// want P10 refused: arguments
func moved(w http.ResponseWriter, r *http.Request) {
	template.Must(template.ParseFiles(folder+"/a.html")).Execute(w, nil)
}

var once sync.Once

var compiled *regexp.Regexp

// want P10 refused: request
func already(w http.ResponseWriter, r *http.Request) {
	once.Do(func() { compiled = regexp.MustCompile(`x+`) })
	fmt.Fprint(w, compiled.MatchString(r.FormValue("q")))
}

func routes() {
	http.HandleFunc("/name", accountName)
	http.HandleFunc("/n", number)
	http.Handle("/", front)
}
