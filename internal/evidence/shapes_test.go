package evidence

import (
	"reflect"
	"testing"

	"kasoku/internal/tables"
)

// Of tables that several schemas have under one name it is told what is so in all.
func TestShapes(t *testing.T) {
	users := Table{Schema: "a", Name: "users", Columns: []Column{{Name: "id", Type: "int(11)"}, {Name: "boss", Type: "int(11)", Nullable: true}, {Name: "name", Type: "varchar(9)"}},
		Indexes:     []TableIndex{{Unique: true, Columns: []string{"id"}}, {Unique: true, Columns: []string{"name(4)"}}, {Unique: true, Columns: []string{"boss", "id"}}, {Columns: []string{"name"}}},
		ForeignKeys: []ForeignKey{{RefSchema: "a", RefTable: "users"}}}
	want := tables.Table{Name: "users", Columns: map[string]string{"id": "int(11)", "boss": "int(11)", "name": "varchar(9)"}, Unique: []string{"id"}, Nullable: []string{"boss"}, Itself: true}
	snap := &Snapshot{Databases: map[string]*Database{"db": {Tables: []Table{users}}}}
	if got := snap.Shapes(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v", got)
	}
	other := Table{Schema: "b", Name: "Users", Columns: []Column{{Name: "id", Type: "varchar(11)"}, {Name: "boss", Type: "int(11)"}}, ForeignKeys: []ForeignKey{{Acts: true}}}
	snap.Databases["other"] = &Database{Tables: []Table{other}}
	if got := snap.Shapes(); len(got) != 1 || !reflect.DeepEqual(got[0].Columns, map[string]string{"boss": "int(11)"}) || got[0].Unique != nil || got[0].Nullable != nil || !got[0].Acts || !got[0].Itself {
		t.Errorf("%+v", got)
	}
	if got := (&Snapshot{Databases: map[string]*Database{"db": {Tables: []Table{{Name: "log", Triggers: 1}}}}}).Shapes(); len(got) != 1 || !got[0].Acts {
		t.Errorf("%+v", got)
	}
}
