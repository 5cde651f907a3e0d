package foreign

import "errors"

// Custom is the format that knows nothing: the score comes from a pattern.
const Custom = "custom"

// format is a kind of output that is understood.
type format struct {
	name string
	// is reports whether an output has the format; read reads it.
	is   func(*output) bool
	read func(*output) (*report, error)
}

// formats in the order in which an output is compared with them: those with
// the surest marks first. A format that only has to find the word "score"
// comes last.
var formats = []format{
	{"wrk", isWrk, readWrk}, // and wrk2, whose output is a superset
	{"ab", isAB, readAB},
	{"k6", isK6, readK6},
	{"vegeta", isVegeta, readVegeta},
	{"bombardier", isBombardier, readBombardier},
	{"oha", isOha, readOha},
	{"hey", isHey, readHey},
	{"autocannon", isAutocannon, readAutocannon},
	{"h2load", isH2load, readH2load},
	{"siege", isSiege, readSiege},
	{"locust", isLocust, readLocust},
	{"drill", isDrill, readDrill},
	{"jmeter", isJMeter, readJMeter},
	{"gatling", isGatling, readGatling},
	{"artillery", isArtillery, readArtillery},
	{"isucon", isISUCON, readISUCON},
	{Custom, func(*output) bool { return false }, func(*output) (*report, error) { return &report{}, nil }},
}

// Formats lists the names that load.command.format may have.
func Formats() []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.name)
	}
	return out
}

// formatOf returns the named format, or the one that the output has; nil if
// it has none. scored says that kasoku.yaml tells where the score stands: then
// the word "score" in the output is no mark of a format.
func formatOf(name string, scored bool, o *output) *format {
	for i, f := range formats {
		if f.name == name || name == "" && f.is(o) && !(scored && f.name == "isucon") {
			return &formats[i]
		}
	}
	return nil
}

// errNoSummary is for an output that does not have what its format ends with.
var errNoSummary = errors.New("the summary is missing")
