#!/bin/bash
# Starts a copy of the bank login tuned by hand and runs bench/diagnosis on it:
# bench-diagnosis.sh bounds|overhead|viewers [flags]. Ends with 1 if a bar is missed.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
shift
work=$(mktemp -d /tmp/kdXXXXXX)
case=cases/login/case.sh
cleanup() {
    "$case" down "$work/case" --purge || true
    rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"

"$case" up "$work/case" >/dev/null
"$case" hand "$work/case" >/dev/null
go build -o "$work/diagnosis" ./bench/diagnosis
"$work/diagnosis" "$@" "$what" "$work/case"
