package diagnose

import "math"

// HostDemand is the service demand of one resource of one host, without what
// the load generator and other processes took: what a right answer would cost
// it in production.
type HostDemand struct {
	Host     string
	Resource string // "cpu", "disk: sda", "network: eth0"
	// PerRequest is seconds of the resource per right answer, Capacity how many
	// of them there are: CPUs, or 1.
	PerRequest, Capacity float64
}

// HostDemands computes D = U·T/X for each host of one run. It needs stack and
// evidence only.
func HostDemands(in Input) ([]HostDemand, error) {
	m, err := newModel(in)
	if err != nil {
		return nil, err
	}
	var out []HostDemand
	for _, k := range m.machines {
		out = append(out, HostDemand{k.name, "cpu", math.Max(k.allCPU-k.genCPU, 0), k.cpus})
		for _, d := range k.sys.Disks {
			if d.Busy > 0 {
				out = append(out, HostDemand{k.name, "disk: " + d.Name, d.Busy / m.x, 1})
			}
		}
		for _, n := range k.sys.Networks {
			if use := math.Max(n.ReceiveBytes, n.SendBytes); n.SpeedBytes > 0 && use > 0 {
				out = append(out, HostDemand{k.name, "network: " + n.Name, use / n.SpeedBytes / m.x, 1})
			}
		}
	}
	return out, nil
}
