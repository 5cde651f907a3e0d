// Package secrettest plants secrets into structures and looks for them in what
// was made of these, for tests of everything that shows text of a target.
package secrettest

import (
	"fmt"
	"html"
	"reflect"
	"strings"
)

// forms in which secrets stand in texts of real targets.
var forms = []string{
	" password=%s", " api_key: %s ", " mysql://shop:%s@db:3306/shop ", " CREATE USER a IDENTIFIED BY '%s' ", " (SELECT 1 FROM t WHERE token = '%s') ",
	` {"apiKey": "%s"} `, " mariadb -ushop -p%s shop ", " GET /?session_id=%s ", " DB_PASSWORD='%s' ", "\nAuthorization: Bearer %s\n", "\nCookie: theme=dark; sid=%s\n",
}

// Plants are secrets that were planted, each with its place.
type Plants struct {
	// Skip are fields that are no text but words that code compares:
	// "Type.Field", or "Field" of any type.
	Skip  []string
	where []string
}

// secret is text that no mask and no other secret holds.
func secret(n int) string { return fmt.Sprintf("pl4nted%04dx", n) }

// Text returns one more secret in the next form; where says its place.
func (p *Plants) Text(where string) string {
	n := len(p.where)
	p.where = append(p.where, where)
	return fmt.Sprintf(forms[n%len(forms)], secret(n))
}

// Count of what was planted.
func (p *Plants) Count() int { return len(p.where) }

// Into appends a secret to every text that the pointer v leads to, in fields of
// type string that JSON has, in lists and as values of maps. A list of texts
// that is empty gets one.
func (p *Plants) Into(v any) { p.into(reflect.ValueOf(v), fmt.Sprintf("%T", v)) }

func (p *Plants) into(v reflect.Value, at string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.into(v.Elem(), at)
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			if f.IsExported() && f.Tag.Get("json") != "-" && !p.skips(t.Name(), f.Name) {
				p.into(v.Field(i), at+"."+f.Name)
			}
		}
	case reflect.Slice:
		if v.Type().Elem() == reflect.TypeFor[string]() && v.Len() == 0 && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			p.into(v.Index(i), fmt.Sprintf("%s[%d]", at, i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			c := reflect.New(v.Type().Elem()).Elem()
			c.Set(v.MapIndex(key))
			p.into(c, fmt.Sprintf("%s[%v]", at, key))
			v.SetMapIndex(key, c)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.CanSet() {
			v.SetString(v.String() + p.Text(at))
		}
	}
}

func (p *Plants) skips(owner, field string) bool {
	for _, s := range p.Skip {
		if s == field || s == owner+"."+field {
			return true
		}
	}
	return false
}

// Found returns the places whose secrets text holds, as it is or as HTML.
func (p *Plants) Found(text string) (out []string) {
	text += html.UnescapeString(text)
	for n, where := range p.where {
		if i := strings.Index(text, secret(n)); i >= 0 {
			out = append(out, fmt.Sprintf("%s: …%.60q…", where, text[max(0, i-40):]))
		}
	}
	return out
}
