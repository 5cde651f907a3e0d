// Package mcp lets a coding agent ask Kasoku and, where the operator allows it,
// have changes judged: a server of the Model Context Protocol.
//
// In: Options, by which cmd/kasoku opens the project. Out: a Server with typed
// tools. Reading tools measure nothing and change nothing; try is there only if
// it is allowed, and judges by the same rules as `kasoku try`.
//
// One noun per file: server.go the tools and how errors are told, then one file
// per tool.
package mcp
