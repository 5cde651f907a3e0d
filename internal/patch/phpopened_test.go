package patch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// phpOpenedCorpus has a program in each folder; what must be refused is a trap.
var phpOpenedCorpus = filepath.Join("testdata", "phpopened")

func phpOpenedCases(t *testing.T) (out []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(phpOpenedCorpus, "*", "app.php"))
	if err != nil || len(all) < 30 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		out = append(out, filepath.Base(filepath.Dir(name)))
	}
	return out
}

// openedPlaces are those of P10 of a folder.
func openedPlaces(t *testing.T, dir string) (*Program, []*Place) {
	t.Helper()
	p, err := Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, slices.DeleteFunc(p.Find(), func(at *Place) bool { return at.Shape != "P10" })
}

// Functions that open a connection in each call are offered, or refused with the precondition
// that their program violates; what is written is what testdata/phpopenedgolden holds.
func TestPHPOpened(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range phpOpenedCases(t) {
		p, places := openedPlaces(t, filepath.Join(phpOpenedCorpus, name))
		var got, want []string
		for _, at := range places {
			says := at.Shape
			if at.Refused != nil {
				says += " refused: " + at.Refused.Need
				t.Logf("%s: %v", name, at.Refused)
			} else if diff, err := Diff([]*Place{at}); err != nil {
				t.Errorf("%s: %v", name, err)
			} else {
				seen[name+".diff"] = true
				wantGolden(t, filepath.Join("testdata", "phpopenedgolden", name+".diff"), at.Message()+"\n"+diff)
			}
			got = append(got, says)
		}
		for _, m := range phpWants.FindAllStringSubmatch(string(p.php.files[0].src), -1) {
			want = append(want, m[1])
		}
		if !slices.Equal(got, want) || strings.HasPrefix(name, "trap-") != strings.Contains(strings.Join(want, " "), "refused") {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	wantNoOthers(t, filepath.Join("testdata", "phpopenedgolden"), seen)
}

// Programs that are offered answer the same over fewer connections; those that are refused
// would not.
func TestPHPOpenedAnswers(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	for _, name := range phpOpenedCases(t) {
		dir := filepath.Join(phpOpenedCorpus, name)
		p, places := openedPlaces(t, dir)
		if strings.HasPrefix(name, "trap-") {
			places = writtenAnyway(t, p)
		}
		after := phpPatchedOf(t, dir, places)
		want, each := openedAnswers(t, dsn, dir)
		got, once := openedAnswers(t, dsn, after)
		switch same := got == want; {
		case strings.HasPrefix(name, "trap-") == same:
			t.Errorf("%s: before\n%s\nafter\n%s", name, want, got)
		case same && (once >= each || once != 1 || strings.Contains(want, "rror")):
			t.Errorf("%s: %d connections before, %d after\n%s", name, each, once, want)
		}
	}
}

// writtenAnyway are the places of P10 with what would be written if nothing were refused.
func writtenAnyway(t *testing.T, p *Program) (out []*Place) {
	t.Helper()
	f := &phpFinder{php: p.php, heads: map[*phpNode]*phpHead{}, funcs: map[*phpNode]*Place{}}
	for _, o := range f.openers() {
		_ = o.checkBody() // which tells what is written
		o.write()
		out = append(out, o.place)
	}
	return out
}

// openedAnswers are what a program prints, and the connections that it opens.
func openedAnswers(t *testing.T, dsn, dir string) (string, int) {
	t.Helper()
	socket := phpSchema(t, dsn, phpOpenedCorpus)
	from := status(t, dsn, "CONNECTIONS")
	cmd := exec.Command("php", filepath.Join(dir, "app.php"))
	cmd.Env = append(os.Environ(), "DB_SOCKET="+socket)
	out, err := cmd.Output()
	if err != nil && !strings.Contains(dir, "trap-") {
		t.Logf("%v\n%s", err, out)
	}
	return string(out), status(t, dsn, "CONNECTIONS") - from - 1 // which asks
}
