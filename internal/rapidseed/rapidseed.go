// Package rapidseed lets random tests repeat: where KASOKU_SEED is set, rapid
// draws from that seed (1 to 2⁶⁴−1) instead of one of its own. Tests import it
// for that alone. The suite that judges a submission sets it, so that it judges
// the submission and not the draw; `make check` draws anew each time.
package rapidseed

import (
	"flag"
	"fmt"
	"os"

	_ "pgregory.net/rapid" // registers the flag
)

func init() {
	seed := os.Getenv("KASOKU_SEED")
	if seed == "" {
		return
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic(fmt.Sprintf("KASOKU_SEED=%q: %v; give a whole number of 1 or more", seed, err))
	}
}
