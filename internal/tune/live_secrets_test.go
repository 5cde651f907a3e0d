package tune

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"kasoku/internal/change/secrettest"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// TestFeedTellsNoSecret: what those who watch are told is masked, whatever it
// says.
func TestFeedTellsNoSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secrets := &secrettest.Plants{Skip: []string{"Kind", "ID"}}
		h := &watcher{}
		f := newFeed(h.watch)
		step := &store.Step{Seq: 1}
		secrets.Into(step)
		v := experiment.Verdict{Outcome: experiment.Improved, Pairs: 3}
		secrets.Into(&v)
		planted := v.Reason
		f.trying(step, []int{3, 4}, 40)
		f.begins(RunOptions{Label: secrets.Text("a run's label")})
		f.sofar(v)
		f.say("step", secrets.Text("a heading"), "")
		f.say("warning", secrets.Text("a warning"), secrets.Text("its hint"))
		time.Sleep(time.Second)
		f.doing(secrets.Text("a part of the work"))
		time.Sleep(time.Second)
		f.close()
		if v.Reason != planted {
			t.Error("the verdict itself was written over")
		}
		told, err := json.Marshal(h.lives)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range secrets.Found(string(told)) {
			t.Error(found)
		}
		if states, said := h.heard(); len(states) < 2 || len(said) != 2 || secrets.Count() < 12 {
			t.Errorf("%d states, %d messages, %d secrets", len(states), len(said), secrets.Count())
		}
	})
}
