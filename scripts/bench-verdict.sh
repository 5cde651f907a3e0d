#!/bin/bash
# How far Kasoku's verdicts can be trusted: bench-verdict.sh sim|real|time [flags].
# Ends with 1 if a bar is missed.
set -euo pipefail
cd "$(dirname "$0")/.."

part=${1:-sim}
[ $# -gt 0 ] && shift
case $part in
sim | real)
    # A program of its own: `go run` would not pass its exit status on, nor a
    # signal that ends it.
    go build -o bin/bench-verdict ./bench/verdict
    exec bin/bench-verdict "$part" "$@"
    ;;
time) ARGS="$*" exec scripts/bench-session-time.sh ;;
*)
    echo "bench-verdict: $part is neither sim nor real nor time" >&2
    exit 2
    ;;
esac
