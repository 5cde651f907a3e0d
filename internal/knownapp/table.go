package knownapp

import "slices"

//go:generate go run ./gen

// Applications are those that are known. What is built on a framework comes
// before it.
var Applications = slices.Concat(mediawiki, php, frameworks)
