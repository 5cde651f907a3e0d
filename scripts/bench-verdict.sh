#!/bin/bash
# How far Kasoku's verdicts can be trusted: bench-verdict.sh sim|real|time [flags].
# Ends with 1 if a bar is missed.
set -euo pipefail
cd "$(dirname "$0")/.."

part=${1:-sim}
[ $# -gt 0 ] && shift
case $part in
sim) exec go run ./bench/verdict sim "$@" ;;
time) ARGS="$*" exec scripts/bench-session-time.sh ;;
real)
    echo "bench-verdict: the part $part is not there yet; docs/verdict.md tells what is" >&2
    exit 2
    ;;
*)
    echo "bench-verdict: $part is neither sim nor real nor time" >&2
    exit 2
    ;;
esac
