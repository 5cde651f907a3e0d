#!/bin/bash
# Tunes one copy of the bank login with Kasoku and another by hand
# (cases/login/hand), both under the strict regulation, and compares them in
# alternating runs. Ends with 1 if Kasoku's falls short of BAR times the other.
set -euo pipefail
cd "$(dirname "$0")/.."

bar=${BAR:-0.90}
budget=${BUDGET:-6m30s}
work=$(mktemp -d /tmp/kbXXXXXX)
case=cases/login/case.sh
cleanup() {
    "$case" down "$work/kasoku" --purge || true
    "$case" down "$work/hand" --purge || true
    rmdir "$work" || true
}
trap cleanup EXIT
chmod 755 "$work"

"$case" up "$work/kasoku"
bin/kasoku -f "$work/kasoku/kasoku.yaml" tune --budget "$budget" --duration 3s
"$case" up "$work/hand" >/dev/null
"$case" hand "$work/hand" >/dev/null
go run ./bench/tuners compare -rounds 8 -d 3s -bar "$bar" kasoku="$work/kasoku" hand="$work/hand"
