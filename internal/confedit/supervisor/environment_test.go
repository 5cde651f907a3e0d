package supervisor

import "testing"

func TestEnvironment(t *testing.T) {
	for _, c := range []struct{ old, name, value, want string }{
		{"", "A", "1", `A="1"`},
		{`A="x,y",B='2'`, "B", "3", `A="x,y",B="3"`},
		{`A="x,y",B=2`, "C", "50%", `A="x,y",B=2,C="50%%"`},
		{`AB=1,B=2,`, "B", "3", `AB=1,B="3",`},
		{"A=1,", "B", "2", `A=1,B="2"`},
	} {
		got, err := EnvSet(c.old, c.name, c.value)
		if err != nil || got != c.want {
			t.Errorf("%s with %s=%s is %s (%v), want %s", c.old, c.name, c.value, got, err, c.want)
		}
		if v, ok := EnvGet(got, c.name); !ok || v != c.value {
			t.Errorf("%s is read back from %s as %q", c.name, got, v)
		}
	}
	if _, err := EnvSet("", "A", `say "no"`); err == nil {
		t.Error("a value with a quote was taken")
	}
	if _, ok := EnvGet(`AB=1`, "B"); ok {
		t.Error("AB is taken for B")
	}
}
