package patch

import (
	"bytes"
	"testing"
)

// Two patches that each leave one variable for texts with a reader less are applied
// together without the variable.
func TestSharedQueryVariable(t *testing.T) {
	var places []*Place
	for _, at := range plain(t) {
		if at.Function == "textsOfTwo" {
			places = append(places, at)
		}
	}
	if len(places) != 2 || places[0].Refused != nil || places[1].Refused != nil || places[0].Lead() == places[1].Lead() {
		t.Fatalf("%v", places)
	}
	for i, want := range []int{2, 2} {
		files, err := Files(places[i : i+1])
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(files["reads/follow.go"], []byte("textOfBoth = ")) + bytes.Count(files["reads/follow.go"], []byte("textOfBoth := ")); n != want {
			t.Errorf("%s alone: %d texts are given", places[i].ID, n)
		}
	}
	files, err := Files(places)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(files["reads/follow.go"], []byte("textOfBoth")) {
		t.Error("the variable stays, which nothing reads")
	}
}
