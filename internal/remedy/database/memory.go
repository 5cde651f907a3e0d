package database

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// redoMost: crash recovery reads all of the redo log.
const redoMost = 1024 * mb

// memoryKnobs are those of db.memory: buffer pool, its instances, redo log.
var memoryKnobs = []knob{
	// A quarter more than the data: room for its growth, and for the adaptive
	// hash index and the lock system that live in the pool too.
	{variable: poolVariable, size: poolSize,
		step: 128 * mb, most: 1 << 42, unit: 1, why: "the data and a quarter more, within what memory is left"},
	// One instance for each GiB, as far as there are CPUs (MySQL manual,
	// "innodb_buffer_pool_instances": at least 1 GiB each).
	{variable: "innodb_buffer_pool_instances", maria: noPoolParts, most: 64, size: func(v view) int64 { return v.wantedParts(v.now(poolVariable)) },
		why: "one for each GiB, as far as there are CPUs"},
	{variable: "innodb_log_file_size", mysql: version{8, 0, 30}, step: 64 * mb, most: redoMost, unit: 0, size: func(v view) int64 {
		files := max(v.now("innodb_log_files_in_group"), 1)
		need := v.subject("redo") / files
		return since(need > v.now("innodb_log_file_size"), min(roundUp(need, 64*mb), redoMost/files))
	}, why: "ten minutes of writing, at most 1 GiB in all: a crash recovery reads all of it"},
	// All files together (MySQL manual, "Configuring Redo Log Capacity").
	{variable: "innodb_redo_log_capacity", step: 64 * mb, most: redoMost, size: func(v view) int64 { return v.subject("redo") },
		why: "ten minutes of writing, at most 1 GiB"},
}

// noPoolParts is the first MariaDB whose pool is one.
var noPoolParts = version{10, 5, 1}

// partedPool reports whether this server divides its pool into instances.
func (v view) partedPool() bool {
	return v.has("innodb_buffer_pool_instances") && !(v.db.MariaDB && noPoolParts.since(v.db))
}

func (v view) wantedParts(pool int64) int64 {
	return min(pool>>30, int64(planning.CPUsOf(v.in, v.svc.Name)), 8)
}

// poolVariable is the size of InnoDB's buffer pool.
const poolVariable = "innodb_buffer_pool_size"

// asFound is what the server has of a variable now, whatever was settled.
func (v view) asFound(variable string) int64 {
	n, _ := strconv.ParseInt(v.db.Variables[variable], 10, 64)
	return n
}

// poolGrowsParts: a pool that is one, as all below 1 GiB are, gets larger than
// that, where a server that is told nothing about instances makes eight.
func (v view) poolGrowsParts() bool {
	return v.partedPool() && v.asFound(poolVariable)>>30 == 0 && v.set[poolVariable]>>30 > 0
}

// poolParts that a pool of this size will have.
func (v view) poolParts(pool int64) int64 {
	switch {
	case !v.partedPool() || pool>>30 == 0:
		return 1
	case v.asFound(poolVariable)>>30 == 0:
		return max(v.wantedParts(pool), 1) // see poolGrowsParts
	}
	return max(v.now("innodb_buffer_pool_instances"), v.wantedParts(pool), 1)
}

// wholePool is the size up to most that is next to want. The server makes each
// instance a multiple of a chunk, and so the pool larger than asked for if it is
// not (MySQL manual, "Configuring InnoDB Buffer Pool Size").
func (v view) wholePool(want, most int64) int64 {
	// 128 MiB by default; 0, chosen by the server, in MariaDB from 10.11.12 on.
	chunk := max(v.now("innodb_buffer_pool_chunk_size"), 128*mb)
	if whole := roundUp(want, chunk*v.poolParts(want)); whole <= most {
		return whole
	}
	step := chunk * v.poolParts(most)
	if most/step == 0 {
		step = chunk // less than 1 GiB, then
		most = min(most, 1<<30-1)
	}
	return most / step * step
}

// poolNeedsRestart: below 1 GiB a pool is one, and a running server whose pool is
// several refuses to make it smaller than that (error 1231, seen with MySQL
// 8.0.15; one that starts with 1 GiB and no word about instances has several). So
// a size on the other side of that border, which undo is to take back too, is
// only in the file.
func (v view) poolNeedsRestart(s set) bool {
	if s.name != poolVariable || !v.partedPool() {
		return false
	}
	to, err := strconv.ParseInt(s.value, 10, 64)
	return err == nil && to>>30 > 0 != (v.now(s.name)>>30 > 0)
}

// subject is a number that the finding tells.
func (v view) subject(key string) int64 {
	n, err := strconv.ParseFloat(v.f.Subject[key], 64)
	if err != nil {
		return 0
	}
	return int64(n)
}

// chooseMemory settles memoryKnobs.
func chooseMemory(v view, spare *int64) (out []choice, notes []string) {
	for _, k := range memoryKnobs {
		if !v.has(k.variable) || k.over(v) {
			continue
		}
		if why := v.persisted(k.variable); why != "" {
			notes = append(notes, why)
			continue
		}
		now := v.now(k.variable)
		want := k.size(v)
		if want <= 0 {
			continue
		}
		if k.variable == poolVariable { // as much of it as there is memory for
			if want = v.wholePool(want, now+max(*spare, 0)); want <= now {
				notes = append(notes, "memory less the regulation's headroom leaves no room for a larger pool")
			}
		} else {
			want = min(roundUp(want, max(k.step, 1)), k.most)
		}
		if want <= now && !(k.variable == "innodb_buffer_pool_instances" && v.poolGrowsParts()) {
			continue
		}
		*spare -= (want - now) * k.unit
		v.set[k.variable] = want
		out = append(out, choice{k, set{name: k.variable, value: strconv.FormatInt(want, 10), option: inMiB(k, want)}, inMiB(k, now)})
	}
	return out, notes
}

// inMiB is a size as option files have it; a count is a count.
func inMiB(k knob, n int64) string {
	if k.step == 0 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%dM", n/mb)
}

// planMemory sizes buffer pool and redo log for the data that is there.
func planMemory(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	spare := planning.SpareMemory(in, v.svc)
	chosen, notes := chooseMemory(v, &spare)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s: %s", f.Service, strings.Join(append(notes, "the redo log is at what is needed, or at its most (1 GiB)"), "; "))
	}
	sort.Slice(chosen, func(i, j int) bool { return chosen[i].variable < chosen[j].variable })
	return v.plan("mariadb.memory", "Memory and redo log", f.Text, chosen, notes)
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// planSmaller gives memory of a pool that is much larger than its data back.
func planSmaller(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Settings {
		to, err := strconv.ParseInt(s.To, 10, 64)
		if s.Name != "innodb_buffer_pool_size" || err != nil {
			continue
		}
		k := knob{variable: s.Name, step: mb, why: "twice the data"}
		to = roundUp(to, mb)
		return v.plan("mariadb.pool-smaller", "Smaller pool", f.Text, []choice{{k, set{name: s.Name, value: strconv.FormatInt(to, 10), option: inMiB(k, to)}, inMiB(k, v.now(s.Name))}}, nil)
	}
	return nil, fmt.Errorf("%s: no smaller size was asked for", f.Service)
}

func poolSize(v view) int64 {
	return since(v.subject("reads") > 0 && v.db.DataBytes > v.now("innodb_buffer_pool_size"), v.db.DataBytes*5/4)
}
