package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/stat"
)

// settle seconds at a block's begin and rest seconds at its end are left out:
// viewers come and go there.
const settle, rest = 1, 1

// userHz is the unit of CPU times in /proc: 100 a second on every architecture
// that Linux gives user space (proc(5), USER_HZ).
const userHz = 100

// machineCPU is the CPU time in seconds that all programs of this machine have
// used since boot. Time that other machines stole is not in it.
func machineCPU() (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(line)
	if len(f) < 8 || f[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat: %q is not the sum of all CPUs", line)
	}
	return ticks(f[1], f[2], f[3], f[6], f[7]) // user, nice, system, irq, softirq
}

// ownCPU is the CPU time in seconds that a process has used.
func ownCPU(pid int) (float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	return ticks(f[11], f[12]) // utime, stime
}

func ticks(fields ...string) (float64, error) {
	sum := 0.0
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc: %w", err)
		}
		sum += float64(n)
	}
	return sum / userHz, nil
}

// usage reads, in the counted part of the block that begins at from, how much
// CPU time everything but the process apart uses.
func usage(ctx context.Context, from time.Time, apart int) (float64, error) {
	read := func(at time.Time) (float64, error) {
		if err := until(ctx, at); err != nil {
			return 0, err
		}
		all, err := machineCPU()
		if err != nil {
			return 0, err
		}
		own, err := ownCPU(apart)
		return all - own, err
	}
	begin, err := read(from.Add(settle * time.Second))
	if err != nil {
		return 0, err
	}
	end, err := read(from.Add((block - rest) * time.Second))
	return end - begin, err
}

// answers that were right in the counted part of a block.
func answers(res *load.Result, n int) (sum float64) {
	for _, p := range res.Series {
		if p.Second >= n*block+settle && p.Second < (n+1)*block-rest {
			sum += float64(p.Succeeded)
		}
	}
	return sum
}

// turns compares the blocks of each pair by a figure: its share more in those
// that are on, and the half-width of the 95 % interval.
func turns(pairs int, figure func(n int) float64) (more, half float64) {
	var ratios []float64
	for pair := range pairs {
		a, b := figure(2*pair), figure(2*pair+1)
		if !on(2 * pair) {
			a, b = b, a
		}
		ratios = append(ratios, a/b)
	}
	return stat.GeoMean(ratios) - 1, spread(ratios)
}
