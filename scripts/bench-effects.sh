#!/bin/bash
# What each remedy brings to the stack of its test: bench-effects.sh [-write].
# ONLY=TestNginxRemedies takes the tests of that name only. Ends with 1 if a
# remedy has no effect measured or a test fails.
set -uo pipefail
cd "$(dirname "$0")/.."

# In memory: tests that run on files of their own share that, not /tmp.
export KASOKU_EFFECTS
KASOKU_EFFECTS=$(mktemp /dev/shm/kasoku-effects-XXXXXX)
trap 'rm -f "$KASOKU_EFFECTS"' EXIT
status=0
go test -p 1 -count 1 -timeout 60m -run "${ONLY:-.}" ./cases/remedies/... || status=1
go test -p 1 -count 1 -timeout 30m -run "${ONLY:-^TestRemedy}" ./internal/tune || status=1
go test -p 1 -count 1 -timeout 30m -run "${ONLY:-^TestCdn$}" ./cases/wiki || status=1
go run ./bench/effects "$@" "$KASOKU_EFFECTS" || status=1
[[ " $* " != *" -write "* ]] || go generate ./internal/remedy || status=1
exit "$status"
