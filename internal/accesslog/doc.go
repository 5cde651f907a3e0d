// Package accesslog reads the access logs of web servers. It is pure: bytes
// come in, entries go out; it knows nothing of hosts or scenarios.
//
//  1. A Format says what a line looks like: nginx's log_format, Apache's
//     LogFormat, LTSV, JSON lines, or one that is recognised (Detect).
//  2. A Reader streams the lines into one Entry that is used again and again;
//     nothing is allocated per line. Lines that do not fit are counted, and
//     the first ones kept.
//  3. Routes learns from the paths which of their segments vary, and names
//     each path's route: /items/17 is /items/:id.
package accesslog
