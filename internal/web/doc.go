// Package web is the live dashboard: what a session does, what runs saw, what
// was changed, in a browser.
//
// In: the store and the journal for reading, and tune.Live from the session
// under way. Out: pages made on the server, and one stream of events.
//
//  1. Start listens; on loopback reading needs no token, elsewhere everything
//     does (guard.go, login.go).
//  2. Whoever measures calls Server.Publish; the Hub keeps the newest moment and
//     wakes viewers. It never waits for one (hub.go, events.go). Where the session
//     runs in another process, the store is looked at instead (watch.go).
//  3. Pages are complete without a script: html/template escapes what came from
//     a target, redacted first (format.go). static/app.js adds the live panel,
//     the theme switch and "why" on focus.
//  4. The one act is undo, through Options.Undo, which takes the lease.
//
// One noun per file: page_*.go are the pages, stacked.go and lines.go pictures.
package web
