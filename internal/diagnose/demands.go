package diagnose

import "sort"

// demands lists the service demand of every resource, D = U·T/X.
func (m *model) demands() []Demand {
	var out []Demand
	add := func(resource string, perRequest, capacity float64) {
		d := Demand{Resource: resource, PerRequest: perRequest, Utilization: perRequest * m.x / capacity}
		if perRequest > 0 {
			d.MaxThroughput = capacity / perRequest
		}
		out = append(out, d)
	}
	add("cpu", m.allCPU, m.cpus)
	for name, d := range m.perReq {
		add("cpu: "+name, d, m.cpus)
	}
	add("cpu: generator", m.genCPU, m.cpus)
	sys := m.in.Evidence.System
	if sys.ForeignCPU > 0 {
		add("cpu: other processes", sys.ForeignCPU/(m.x*m.window), m.cpus)
	}
	for _, d := range sys.Disks {
		if d.Busy > 0 {
			add("disk: "+d.Name, d.Busy/m.x, 1)
		}
	}
	if len(sys.Disks) == 0 && sys.DiskBusy > 0 {
		add("disk", sys.DiskBusy/m.x, 1)
	}
	for _, n := range sys.Networks {
		if n.SpeedBytes > 0 {
			add("network: "+n.Name, max(n.ReceiveBytes, n.SendBytes)/n.SpeedBytes/m.x, 1)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Utilization != out[j].Utilization {
			return out[i].Utilization > out[j].Utilization
		}
		return out[i].Resource < out[j].Resource
	})
	return out
}
