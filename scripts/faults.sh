#!/bin/bash
# The fault matrix (bench/faults): breaks a disposable host at every step of
# every kind of change. Takes its flags. Ends with 1 if one case is lost or
# fewer than 500 ran.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(mktemp /tmp/kasoku-faults-XXXXXX)
trap 'rm -f "$program"' EXIT
go build -o "$program" ./bench/faults
"$program" -kasoku "$PWD/bin/kasoku" "$@"
