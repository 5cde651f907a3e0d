package goapp

import "kasoku/internal/appserver"

// Room is the row of internal/kind. A Go program is its own server.
var Room = appserver.Room{Name: "goapp", Variables: []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"}}
