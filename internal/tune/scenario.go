package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
)

// scenarioHash names the load by what it is made of: the scenario's file and all
// that it reads. "" without a scenario, or if a file cannot be read.
func (b *Bench) scenarioHash() string {
	if b.Foreign() || b.Scenario == nil || b.Scenario.Path == "" {
		return ""
	}
	sum := sha256.New()
	for _, path := range b.Scenario.Files() {
		data, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		fmt.Fprintf(sum, "%d\n", len(data))
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
