#!/bin/bash
# What is new, from one file per change to a released version:
#   scripts/changelog.sh check             every file of changelog/unreleased is as changelog/TEMPLATE.md says
#   scripts/changelog.sh show              what the next version brings, as it will stand in CHANGELOG.md
#   scripts/changelog.sh release VERSION   writes that into CHANGELOG.md and VERSION, and removes the files
# Nothing is committed. Exit status 3: a file or the version is wrong, and nothing was written.
set -euo pipefail
cd "${CHANGELOG_ROOT:-$(dirname "$0")/..}"
kinds="Added Changed Fixed Removed Security" # of keepachangelog.com

fail() { echo "changelog.sh: $*" >&2; exit 3; }

shopt -s nullglob
LC_ALL=C
entries=(changelog/unreleased/*.md)

check() {
    local file kind bad=
    for file in "${entries[@]}"; do
        kind=$(head -n 1 "$file")
        case " $kinds " in
        *" ${kind%:} "*) [ "${kind%:}" != "$kind" ] || { bad=1; echo "$file:1: the kind ends with a colon: $kind:" >&2; } ;;
        *) bad=1; echo "$file:1: it begins with what kind of change it is, one of: ${kinds// /:, }:" >&2 ;;
        esac
        [ -n "$(sed 1d "$file" | tr -d '[:space:]')" ] || { bad=1; echo "$file: it says nothing below its kind" >&2; }
    done
    [ -z "$bad" ] || fail "mend what is named above; changelog/TEMPLATE.md shows how an entry looks"
}

# show prints the entries by kind, each as one point of a list.
show() {
    local kind file first
    for kind in $kinds; do
        first=1
        for file in "${entries[@]}"; do
            [ "$(head -n 1 "$file")" = "$kind:" ] || continue
            [ -z "$first" ] || printf '### %s\n\n' "$kind"
            first=
            sed 1d "$file" | sed '/./,$!d' | sed '1s/^/- /; 2,$s/^\(.\)/  \1/'
        done
        [ -n "$first" ] || echo
    done
}

release() {
    local version=$1 notes new
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "\"$version\" is no version; write it as 0.2.0 (semver.org)"
    ! grep -q "^## $version " CHANGELOG.md || fail "CHANGELOG.md has $version already"
    [ "$(printf '%s\n' "$(<VERSION)" "$version" | sort -V | tail -n 1)" = "$version" ] || fail "$version is before $(<VERSION), the last one released"
    check
    notes=$(show)
    [ -n "$notes" ] || fail "changelog/unreleased is empty: there is nothing to release"
    new=$(mktemp CHANGELOG.md.XXXXXX)
    # By the environment, as awk reads backslashes in what -v sets.
    HEAD="## $version – $(date -u +%F)" NOTES=$notes awk '!done && /^## / { print ENVIRON["HEAD"] "\n\n" ENVIRON["NOTES"] "\n"; done = 1 } { print }' CHANGELOG.md >"$new"
    chmod --reference=CHANGELOG.md "$new"
    mv "$new" CHANGELOG.md
    rm -- "${entries[@]}"
    echo "$version" >VERSION
    echo "changelog.sh: $version stands in CHANGELOG.md and VERSION. Commit both together, with the files that went, then: make release"
}

case "${1:-} $#" in
"check 1") check ;;
"show 1") check; show ;;
"release 2") release "$2" ;;
*) sed -n '2,/^set/p' "$0" | grep '^#' >&2; exit 2 ;;
esac
