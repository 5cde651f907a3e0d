#!/bin/bash
# Installs the other log tools where they are missing and compares bin/kasoku
# digest with them (bench/digest). Takes bench/digest's flags. Ends with 1 if a
# bar is missed. The logs stay in .cache/bench/digest, about 8 GB for the
# default of 5,000,000 lines.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/peers.sh digest
program=$(mktemp /tmp/kasoku-bench-digest-XXXXXX)
trap 'rm -f "$program"' EXIT
# A program of its own instead of "go run": go itself would stay beside it.
go build -o "$program" ./bench/digest
"$program" "$@"
