#!/bin/bash
# Installs the other load generators where they are missing and compares
# bin/kasoku with them (bench/load). Takes bench/load's flags. Ends with 1 if a
# bar is missed or undecided; the last lines say which.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/peers.sh
program=$(mktemp /tmp/kasoku-bench-load-XXXXXX)
trap 'rm -f "$program"' EXIT
# A program of its own instead of "go run": go itself would stay beside it.
go build -o "$program" ./bench/load
"$program" "$@"
