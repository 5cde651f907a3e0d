package main

import (
	"io"

	"kasoku/internal/digest/slowgen"
)

// genSlow writes a slow log of n entries in MariaDB's form.
func genSlow(w io.Writer, n int) error { return slowgen.Write(w, slowgen.MariaDB, n) }
