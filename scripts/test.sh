#!/bin/bash
# Runs every test, against real servers. Tests that mostly wait (for systemd, a
# host's boot, a guard's deadline), only look at answers or only compute run three
# packages at a time; those that measure or tune run one at a time afterwards: beside
# each other they are some minutes shorter, but on a slow machine tests then fail.
# go vet is a part of "make static", so go test need not run it again.
# LONG=1 also kills Kasoku before every step of apt and systemd changes;
# without it every ninth. PACKAGE_LIMIT and TESTFLAGS may be set.
set -uo pipefail
cd "$(dirname "$0")/.."

limit=${PACKAGE_LIMIT:-20m}
read -ra flags <<<"-vet=off ${TESTFLAGS:-}"
waits='^kasoku/(lab|scripts|cases/(checks|login|patterns|remedies|wiki)|internal/(change|host|stack|confedit|remedy|report|diagnose|digest|record|lint|screen|web))(/|$)'
waits+='|^kasoku/(bench/(digest|effects|faults|sessiontime|tuners|verdict|wiki)|internal/(accesslog|appserver|experiment|history|knownapp|mcp|regulation|sqllog|stat|store|trace|ui))$'
# Those that take longest come first, so that none is alone in the end.
first='^kasoku/(internal/(change|host/ssh)|cases/(checks|remedies/(apps|web)|wiki))$'
status=0

{ go list ./... | grep -E "$first"; go list ./... | grep -E "$waits" | grep -vE "$first"; } |
    xargs go test -p 3 -timeout "$limit" "${flags[@]}" || status=1
go list ./... | grep -vE "$waits" | xargs go test -p 1 -timeout "$limit" "${flags[@]}" || status=1
[ "$status" = 0 ] || echo "FAIL: see above" >&2
exit "$status"
