#!/bin/bash
# The checks that run nothing of Kasoku: static.sh [NAME …], all without a name.
#
#   format       gofmt
#   vet          go vet
#   lint         this repository's own rules (internal/lint)
#   changelog    entries of what is new (changelog/TEMPLATE.md)
#   staticcheck  what the compiler and go vet do not see
#   deadcode     functions that no program reaches
#   exhaustive   switches that forget a kind
#   complexity   functions that are hard to follow
#
# Each check says what to do about what it finds. All of those asked for run; the
# exit status is 1 if any fails. The last four are programs that tools.mod pins.
# The go command is the first in PATH (make puts that of scripts/go.sh there).
set -uo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

all="format vet lint changelog staticcheck deadcode exhaustive complexity"

# tool NAME ARGS … runs a program of tools.mod. Programs are built with what is
# in tools.mod, whatever go.mod says. They hold whole trees of types for as long as they
# run, so their garbage is collected a quarter as often, below 3 GiB.
tool() { GOGC=400 GOMEMLIMIT=3GiB go tool -modfile=tools.mod "$@"; }

# sources lists the Go files: those that git knows or could, else all.
sources() {
    if [ -e .git ]; then
        git ls-files --cached --others --exclude-standard -- '*.go' | while read -r f; do [ ! -e "$f" ] || echo "$f"; done
    else
        find . -name '*.go'
    fi
}

check_format() {
    local bad
    bad=$(sources | xargs -r gofmt -l) || return 1
    [ -z "$bad" ] || { printf '%s\n' "not formatted; run gofmt -w on:" "$bad"; return 1; }
}

check_vet() { go vet ./... || { echo "go vet: mend what it names"; return 1; }; }

check_lint() { go run ./internal/lint || { echo "internal/lint: mend what it names; its rules are in internal/lint/rules.go"; return 1; }; }

check_changelog() { scripts/changelog.sh check; }

check_staticcheck() {
    tool staticcheck ./... || {
        echo "staticcheck: mend what it names; what a check means: go tool -modfile=tools.mod staticcheck -explain CHECK"
        echo "where it is wrong, //lint:ignore CHECK and the reason stand above the line"
        return 1
    }
}

# Packages of tests: internal/lint/rules.go names those that only tests may import
# (testOnly, testBed); cases/ is nothing but tests and what they start. accelerator/ is a
# library for programs of others.
tests='^(accelerator/|cases/|lab/labtest/|internal/([a-z]+/)*[a-z]+test/|internal/confedit/memory/|internal/rapidseed/|internal/await/)'

# A function is dead if no program reaches it: one that only tests do is a test's
# helper and belongs into a _test.go file, or goes with its test. In packages of
# tests it is dead if no test reaches it either. scripts/deadcode.txt lists what
# stays nevertheless: file, function, reason.
check_deadcode() {
    local format='{{range .Funcs}}{{.Position.File}} {{.Name}}{{"\n"}}{{end}}' programs withTests found stale
    programs=$(tool deadcode -f "$format" ./...) && withTests=$(tool deadcode -test -f "$format" ./...) || return 1
    found=$({ printf '%s\n' "$programs" | grep -vE "$tests"; printf '%s\n' "$withTests"; } | sed "s|^$PWD/||; /^\$/d" | sort -u)
    allowed=$(sed '/^#/d; /^$/d' scripts/deadcode.txt | awk '{ print $1, $2 }' | sort -u)
    stale=$(comm -13 <(printf '%s\n' "$found") <(printf '%s\n' "$allowed"))
    found=$(comm -23 <(printf '%s\n' "$found") <(printf '%s\n' "$allowed"))
    if [ -n "$found" ]; then
        echo "no program reaches these functions; delete them, or move what only tests of the package need into its export_test.go:"
        printf '%s\n' "$found"
    fi
    if [ -n "$stale" ]; then
        echo "these are reached or gone; take them out of scripts/deadcode.txt:"
        printf '%s\n' "$stale"
    fi
    [ -z "$found$stale" ]
}

# -d: a default says that the others are meant to be as they are, which most
# switches over service kinds want; the check then is about switches that fall
# through in silence. -typeonly: kinds that grow and that many packages decide by.
# Other enumerations (tokens of a lexer, columns of a log) stay in one file, where
# a switch about a few of many is plain to see.
kinds='^kasoku/internal/(change\.Kind|change\.Activation|experiment\.Outcome|stack\.Kind)$'

check_exhaustive() {
    tool exhaustive -d -typeonly "$kinds" ./... || {
        echo "exhaustive: say in the switch what happens for the kinds that it names; a default is enough where that is one answer for all others"
        return 1
    }
}

# Cognitive complexity (G. A. Campbell, SonarSource 2018) above 20 is for nobody to read.
# scripts/complexity.txt lists the functions that are still above it, each with the most that it may
# have: package, function, complexity. It only gets shorter.
check_complexity() {
    local found
    found=$(tool gocognit -over 20 -ignore '_test\.go$' -f '{{.Pos.Filename}} {{.FuncName}} {{.Complexity}}' accelerator bench cmd internal lab 2>/dev/null |
        awk '{ sub(/\/[^\/]*$/, "", $1); print $1, $2, $3 }' | LC_ALL=C sort)
    awk -v list=scripts/complexity.txt '
        BEGIN { while ((getline line < list) > 0) if (line !~ /^(#|$)/) { split(line, f, " "); most[f[1] " " f[2]] = f[3] } }
        { name = $1 " " $2; seen[name] = 1 }
        !(name in most) { print "complexity " $3 ", at most 20: " name; bad = 1; next }
        $3 > most[name] { print "complexity " $3 ", it was " most[name] ": " name; bad = 1 }
        $3 < most[name] { print "complexity only " $3 " now, not " most[name] "; write that into " list ": " name; bad = 1 }
        END { for (name in most) if (!(name in seen)) { print "at most 20 now, or gone; take it out of " list ": " name; bad = 1 }; exit bad }
    ' <<<"$found" || {
        echo "complexity: give parts of these functions names of their own"
        return 1
    }
}

failed=
for name in ${@:-$all}; do
    case " $all " in
    *" $name "*) "check_$name" || failed+=" $name" ;;
    *) echo "static.sh: no check is called $name; there are: $all" >&2; exit 2 ;;
    esac
done
[ -z "$failed" ] || { echo "static.sh: failed:$failed" >&2; exit 1; }
