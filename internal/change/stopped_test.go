package change

import (
	"context"
	"errors"
	"testing"

	"kasoku/internal/stack"
)

// stateful is a Controller that knows whether its service runs.
type stateful struct {
	recorder
	state *stack.State
}

func (s *stateful) State(context.Context) (stack.State, error) { return *s.state, nil }
func (s *stateful) Restart(ctx context.Context) error {
	err := s.recorder.Restart(ctx)
	if err == nil {
		*s.state = stack.Running
	}
	return err
}
func (s *stateful) PutBack(_ context.Context, was stack.State) error {
	*s.state = stack.Stopped
	return s.call("put back to " + string(was))
}

// A service that did not run before Kasoku started it ends stopped: after a
// failure, after an undo, and when another process puts it back.
func TestStoppedStaysStopped(t *testing.T) {
	state := stack.Stopped
	f := newFixture(t)
	opts := f.options()
	opts.Control = func(service string) (Controller, error) {
		return &stateful{recorder{f, service}, &state}, nil
	}
	open := func() {
		t.Helper()
		must(t, f.x.Close())
		x, err := Open(t.Context(), opts)
		must(t, err)
		f.x = x
	}
	open()
	conf := f.file("php.conf", "a\n")
	edit := func() Change { return edit1(conf, "a\n", "b\n", "php", Restart) }
	last := func() string { return f.calls[len(f.calls)-1] }

	f.fail["healthy php"] = errors.New("it does not answer")
	if _, err := f.apply(edit()); err == nil {
		t.Fatal("applied though it does not answer")
	}
	wantEqual(t, "after a failure", string(state), string(stack.Stopped))
	wantEqual(t, "the last call", last(), "put back to stopped php")
	wantEqual(t, "the file", content(t, conf), "a\n")
	delete(f.fail, "healthy php")

	tx, err := f.apply(edit())
	must(t, err)
	wantEqual(t, "applied", string(state), string(stack.Running))
	must(t, f.x.Keep(t.Context(), tx.ID))
	tx2, err := f.apply(edit1(conf, "b\n", "c\n", "php", Restart))
	must(t, err)

	// The second transaction found it running: it is restarted, not stopped.
	open()
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "after recovery of "+tx2.Title, string(state), string(stack.Running))
	must(t, f.x.UndoAll(t.Context()))
	wantEqual(t, "after undo all", string(state), string(stack.Stopped))
	wantEqual(t, "the last call", last(), "put back to stopped php")
}
