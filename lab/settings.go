package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Settings are what holds a host back from outside. They stay across reboots.
type Settings struct {
	CPUs              float64       `json:"cpus"`                 // processors' worth of time; 0 = no cap
	Memory            int64         `json:"memory_bytes"`         // 0 = no cap
	Cut               bool          `json:"cut"`                  // its network cable is out
	RateBitsPerSecond int64         `json:"rate_bits_per_second"` // of its network, each way; 0 = no cap
	LossPercent       float64       `json:"loss_percent"`         // of its packets, each way; 0 = none
	Delay             time.Duration `json:"delay_ns"`             // of its packets, each way; 0 = none
}

// Limits changes Settings; what is nil stays as it is.
type Limits struct {
	CPUs              *float64
	Memory            *int64
	RateBitsPerSecond *int64
	LossPercent       *float64
	Delay             *time.Duration
}

// Settings reads the host's.
func (h *Host) Settings() (Settings, error) {
	var s Settings
	err := readJSON(h.file("settings.json"), &s)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("host %s of lab %s is gone: %w", h.Name, h.lab.Name, err)
	}
	return s, err
}

// Limit sets a host's caps, also while it runs. A *CannotError says that the
// kernel lacks what a cap needs; then nothing of it is set.
func (l *Lab) Limit(ctx context.Context, name string, to Limits) error {
	h, err := l.Host(name)
	if err != nil {
		return err
	}
	return h.change(ctx, func(s *Settings) {
		set(&s.CPUs, to.CPUs)
		set(&s.Memory, to.Memory)
		set(&s.RateBitsPerSecond, to.RateBitsPerSecond)
		set(&s.LossPercent, to.LossPercent)
		set(&s.Delay, to.Delay)
	})
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Cut takes a host's network cable out: nothing reaches it and it reaches
// nothing, until Heal. Connections hang as with a real cut.
func (l *Lab) Cut(ctx context.Context, name string) error {
	return l.plug(ctx, name, true)
}

// Heal plugs the cable in again.
func (l *Lab) Heal(ctx context.Context, name string) error {
	return l.plug(ctx, name, false)
}

func (l *Lab) plug(ctx context.Context, name string, cut bool) error {
	h, err := l.Host(name)
	if err != nil {
		return err
	}
	return h.change(ctx, func(s *Settings) { s.Cut = cut })
}

// change applies changed settings and keeps them for the next boot; if they
// cannot be applied, the ones before stay.
func (h *Host) change(ctx context.Context, f func(*Settings)) error {
	held, err := lock(h.file("settings.lock"), true)
	if err != nil {
		return fmt.Errorf("change host %s of lab %s: %w", h.Name, h.lab.Name, err)
	}
	defer held.Close()
	before, err := h.Settings()
	if err != nil {
		return err
	}
	after := before
	f(&after)
	err = h.apply(ctx, before, after)
	if err != nil {
		return errors.Join(err, h.apply(context.WithoutCancel(ctx), after, before))
	}
	return writeJSON(h.file("settings.json"), after)
}

// apply changes what differs. Of a host that is off, only the caps that live
// outside of it; its network is set up when it boots.
func (h *Host) apply(ctx context.Context, before, after Settings) error {
	if err := after.check(); err != nil {
		return err
	}
	if after.CPUs != before.CPUs {
		if err := h.capCPUs(after.CPUs); err != nil {
			return err
		}
	}
	if after.Memory != before.Memory {
		if err := h.capMemory(after.Memory); err != nil {
			return err
		}
	}
	before.CPUs, before.Memory = after.CPUs, after.Memory
	if before == after || !h.Up() {
		return nil
	}
	return h.shape(ctx, after)
}

func (s Settings) check() error {
	switch {
	case s.LossPercent < 0 || s.LossPercent > 100:
		return fmt.Errorf("a loss of %g %%: give 0 to 100", s.LossPercent)
	case s.RateBitsPerSecond != 0 && s.RateBitsPerSecond < 8000:
		return fmt.Errorf("a rate of %d bit/s: give 8kbit or more, or 0 for none", s.RateBitsPerSecond)
	case s.Delay < 0 || s.Delay > time.Minute:
		return fmt.Errorf("a delay of %s: give 0 to 1m", s.Delay)
	}
	return nil
}
