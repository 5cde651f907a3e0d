package load

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Starter is a small commented scenario that requests the path of a URL:
// /path or http://host/path. It is right as it is and meant to be edited.
func Starter(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%q is no URL: %w; write for example http://127.0.0.1:8080/ or /shop", address, err)
	}
	name, path := u.Hostname(), asciiPath(u.EscapedPath())
	switch {
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https", u.Opaque != "":
		return "", fmt.Errorf("%q is no URL of a web page; write for example http://127.0.0.1:8080/ or /shop", address)
	case u.Scheme != "" && path == "":
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + asciiPath(u.RawQuery)
	}
	if why := badPath(strings.ReplaceAll(path, "${", "$${")); why != "" {
		return "", fmt.Errorf("the path %q %s; write for example http://127.0.0.1:8080/ or /shop", path, why)
	}
	if name == "" {
		name = "my service"
	}
	request := strconv.Quote("GET " + strings.ReplaceAll(path, "${", "$${"))
	return fmt.Sprintf(starter, strconv.Quote(name), request), nil
}

const starter = `# yaml-language-server: $schema=scenario.schema.json
# What load to put on the service, and what a right answer looks like.
# docs/reference/scenario.md explains it, docs/reference/scenario-keys.md lists every key.
# Check this file with: kasoku scenario check FILE
version: 1
name: %s
workload: 8            # visitors at the same time
warmup: auto           # not measured; it ends when throughput is steady
duration: 5s           # measured

# Data that visitors use. Each row is drawn once until all are used up.
# pools:
#   users:
#     generate: {from: 1, to: 1000}
#     fields: {login: "user${n}", password: "pass${n}"}

sessions:
  - name: visit
    weight: 1          # how often, compared with other sessions
    # draw: {user: users}            # ${user.login} in the steps
    steps:
      - name: page
        request: %s
        assets: auto   # also what the page refers to, as a browser does
        expect:
          status: 200
          # Say what only a right page holds: a fast wrong answer is worth nothing.
          # contains: ["Welcome"]
          not_contains: ["Internal Server Error"]
      # - name: login
      #   request: POST /login
      #   form: {login: "${user.login}", password: "${user.password}"}
      #   expect: {status: 302, header: {Location: /mypage}}

# score:
#   weights: {POST /login: 5}        # points per right answer; others: 1
#   penalty: {mismatch: 50}          # points off per wrong one
`
