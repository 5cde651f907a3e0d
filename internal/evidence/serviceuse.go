package evidence

// ServiceUse is what one service's processes used in the window.
type ServiceUse struct {
	CPU       float64 `json:"cpu"` // seconds, user + system, of all its processes
	Processes int     `json:"processes"`
	// Started are those of Processes that began in the window. What began and
	// ended within it is not among them.
	Started int   `json:"started,omitempty"`
	RSS     int64 `json:"rss"` // bytes, summed proportional set size at the end (RSS if PSS is unreadable)
	// OpenFiles and FileLimit (soft) are of the process closest to its limit,
	// at the end.
	OpenFiles int `json:"open_files"`
	FileLimit int `json:"file_limit"`
	// User and Sys are the parts of CPU. Switches are voluntary and involuntary
	// context switches per second of its processes; Threads at the end.
	User, Sys              float64
	Voluntary, Involuntary float64
	Threads                int `json:"threads"`
	// Busiest is the CPU time of the busiest thread, seconds: close to the
	// window's length it is a serial section.
	Busiest float64 `json:"busiest"`
	// DiskRead and DiskWritten are bytes per second of its processes
	// (/proc/PID/io); 0 also where they cannot be read.
	DiskRead    float64 `json:"disk_read_per_second"`
	DiskWritten float64 `json:"disk_written_per_second"`
	// NetReceived and NetSent are bytes per second by its own counters, sockets
	// of every kind, or by the interfaces of its own network namespace without lo;
	// 0 also where it has neither.
	NetReceived float64 `json:"net_received_per_second"`
	NetSent     float64 `json:"net_sent_per_second"`
	// GC is the CPU time of a Go program's garbage collector, seconds, a
	// part of CPU; 0 also where its runtime's counters could not be read.
	GC float64 `json:"gc,omitempty"`
	// ProgramsCPU is the CPU time, seconds, a part of CPU, of programs that it started and
	// waited for and that ended in the window; 0 also where a process that keeps workers of
	// its own (a master) waited for them. Programs are those that were seen at it, in
	// diagnostic runs on this machine, the most often seen first.
	ProgramsCPU float64      `json:"programs_cpu,omitempty"`
	Programs    []ProgramUse `json:"programs,omitempty"`
	// Top are its processes that used most CPU.
	Top []ProcessUse `json:"top,omitempty"`
	// Cgroup limits of the service, if it has its own.
	Cgroup *CgroupUse `json:"cgroup,omitempty"`
}

// ProgramUse is a program that a service started for a short while.
type ProgramUse struct {
	Name string `json:"name"` // as the kernel has it, at most 15 bytes
	// Seen are the moments (50 a second) at which one was at work, Processes the
	// different ones among them: at least so many were started.
	Seen      int `json:"seen"`
	Processes int `json:"processes"`
}
