package change

import (
	"reflect"
	"strings"

	"kasoku/internal/redact"
)

// RedactAll masks, as Redact does, every text that the pointer v leads to: in
// structures, lists and maps, also as a map's key. It writes into them: nobody
// else may be reading. Fields that are not exported or that JSON leaves out
// (json:"-") and bytes stay as they are, so a picture drawn before still shows
// what it was drawn of.
func RedactAll(v any) { redactIn(reflect.ValueOf(v)) }

func redactIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			redactIn(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(redacted(v.Elem()))
		}
	case reflect.Struct:
		redactFields(v)
	case reflect.Map:
		redactMap(v)
	case reflect.Slice, reflect.Array:
		redactList(v)
	case reflect.String:
		if v.CanSet() {
			if old := v.String(); old != "" {
				v.SetString(Redact(old))
			}
		}
	}
}

// redacted is a masked copy of what cannot be written in place: what a map or
// an interface holds.
func redacted(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	redactIn(c)
	return c
}

func redactFields(v reflect.Value) {
	t := v.Type()
	name := ""
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		x := v.Field(i)
		// A name and its value stand beside each other: Change, settings.
		if x.Kind() == reflect.String && (f.Name == "Variable" || f.Name == "Name" || f.Name == "Key") {
			name = x.String()
		}
		if x.Kind() == reflect.String && strings.HasSuffix(f.Name, "Value") && redact.IsSecretName(name) && x.String() != "" && x.CanSet() {
			x.SetString(mask)
			continue
		}
		redactIn(x)
	}
}

func redactMap(v reflect.Value) {
	if v.Type().Elem().Kind() <= reflect.Complex128 && v.Type().Key().Kind() != reflect.String {
		return // numbers by numbers
	}
	for _, key := range v.MapKeys() {
		value, newKey := redacted(v.MapIndex(key)), redacted(key)
		if key.Kind() == reflect.String {
			if value.Kind() == reflect.String && value.String() != "" && redact.IsSecretName(key.String()) {
				value.SetString(mask)
			}
			if newKey.String() != key.String() {
				v.SetMapIndex(key, reflect.Value{})
			}
		}
		v.SetMapIndex(newKey, value)
	}
}

// redactList masks each element; of a command's arguments also what follows a
// flag like --password.
func redactList(v reflect.Value) {
	elem := v.Type().Elem()
	if elem.Kind() <= reflect.Complex128 {
		return // bytes and numbers
	}
	for i := range v.Len() {
		x := v.Index(i)
		redactIn(x)
		if elem.Kind() != reflect.String || i == 0 || !x.CanSet() {
			continue
		}
		if before := v.Index(i - 1).String(); strings.HasPrefix(before, "-") && redact.IsSecretName(before) {
			x.SetString(mask)
		}
	}
}
