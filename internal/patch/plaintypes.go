package patch

import (
	"go/types"
	"reflect"
	"strings"
)

// isPlain: a value of the type holds no memory that a copy would share.
func isPlain(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Struct:
		n, ok := types.Unalias(t).(*types.Named)
		if !ok {
			return false
		}
		return pathOf(n.Obj()) == "time" && n.Obj().Name() == "Time" || pathOf(n.Obj()) == sqlPath && strings.HasPrefix(n.Obj().Name(), "Null")
	}
	return false
}

// plainFields refuses a struct whose fields share memory when it is copied.
func plainFields(t types.Type) *Refusal {
	s := t.Underlying().(*types.Struct)
	for v := range s.Fields() {
		if isPlain(v.Type()) {
			continue
		}
		if _, ok := v.Type().Underlying().(*types.Struct); ok {
			if r := plainFields(v.Type()); r != nil {
				return r
			}
			continue
		}
		return refuse("destination", "its field %s is a %s, which two copies of a row would share", v.Name(), types.TypeString(v.Type(), types.RelativeTo(v.Pkg())))
	}
	return nil
}

// keyField is the field of a struct that sqlx fills from a column.
func keyField(t types.Type, columnName string) (string, types.Type) {
	s := t.Underlying().(*types.Struct)
	for i := range s.NumFields() {
		v := s.Field(i)
		tag, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("db"), ",")
		if tag == "" {
			tag = strings.ToLower(v.Name())
		}
		if v.Embedded() {
			if _, ok := v.Type().Underlying().(*types.Struct); ok {
				if name, found := keyField(v.Type(), columnName); found != nil {
					return name, found
				}
			}
			continue
		}
		if tag == columnName {
			return v.Name(), v.Type()
		}
	}
	return "", nil
}
