// Package record makes scenarios of what exists: an access log, a browser's
// HAR file, an OpenAPI file, other clients' requests (curl, Postman, JMeter,
// k6). It comes after load, whose parser has the last
// word on every scenario made here.
//
//  1. FromLog, FromHAR, FromOpenAPI, FromCurl and so on read their source and choose sessions,
//     steps and pools.
//  2. Each returns a Draft: the files as they would be written, and what was
//     taken, what was left out and why.
//  3. Draft.Write checks the scenario with load.Parse and puts the files into
//     a folder, all or none.
package record
