package diagnose

import "sort"

// demands lists the service demand of every resource of every host, D = U·T/X.
// With several hosts a resource's name ends with " of HOST".
func (m *model) demands() []Demand {
	var out []Demand
	add := func(resource string, perRequest, capacity float64) {
		d := Demand{Resource: resource, PerRequest: perRequest, Utilization: perRequest * m.x / capacity}
		if perRequest > 0 {
			d.MaxThroughput = capacity / perRequest
		}
		out = append(out, d)
	}
	for name, d := range m.perReq {
		add("cpu: "+name, d, m.at(name).cpus)
	}
	for _, k := range m.machines {
		sys, on := k.sys, m.on(k)
		add("cpu"+on, k.allCPU, k.cpus)
		if k.genCPU > 0 || len(m.machines) == 1 {
			add("cpu: generator", k.genCPU, k.cpus)
		}
		if sys.ForeignCPU > 0 {
			add("cpu: other processes"+on, sys.ForeignCPU/(m.x*m.window), k.cpus)
		}
		for _, d := range sys.Disks {
			if d.Busy > 0 {
				add("disk: "+d.Name+on, d.Busy/m.x, 1)
			}
		}
		if len(sys.Disks) == 0 && sys.DiskBusy > 0 {
			add("disk"+on, sys.DiskBusy/m.x, 1)
		}
		for _, n := range sys.Networks {
			if n.SpeedBytes > 0 {
				add("network: "+n.Name+on, max(n.ReceiveBytes, n.SendBytes)/n.SpeedBytes/m.x, 1)
			}
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
