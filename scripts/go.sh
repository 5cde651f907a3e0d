#!/bin/sh
# Prints the path of a go command that can build this repository: at least the
# version in go.mod, or one that fetches that version by itself (Go 1.21 and
# later, unless GOTOOLCHAIN is local). Tries $GO, then PATH, then the places
# where Go is usually installed.
#
# Exit status 1 if there is none; standard error then says what was found.
set -u
cd "$(dirname "$0")/.." || exit 1
want=$(sed -n 's/^go \([0-9.]*\)$/\1/p' go.mod)

# at_least A B: version A is B or later.
at_least() {
    printf '%s\n%s\n' "$2" "$1" | sort -C -t. -k1,1n -k2,2n -k3,3n
}

# version GO prints its own version, "1.26.0"; nothing if it does not run.
version() {
    (cd / && GOTOOLCHAIN=local "$1" version 2>/dev/null) | sed -n 's/^go version go\([0-9.]*[0-9]\).*/\1/p'
}

seen=
for candidate in "${GO:-}" "$(command -v go)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
    [ -n "$candidate" ] && [ -x "$candidate" ] || continue
    have=$(version "$candidate")
    [ -n "$have" ] || continue
    if at_least "$have" "$want"; then
        printf '%s\n' "$candidate"
        exit 0
    fi
    if at_least "$have" 1.21 && [ "$(cd / && "$candidate" env GOTOOLCHAIN)" != local ]; then
        printf '%s\n' "$candidate"
        exit 0
    fi
    seen="$seen $candidate ($have)"
done
{
    echo "go.sh: Kasoku needs Go $want or later;${seen:+ found only$seen;} run: make deps"
} >&2
exit 1
