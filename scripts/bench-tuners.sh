#!/bin/bash
# Ways to tune the bank login, side by side in one run: as found, mysqltuner's
# advice by the letter (after a load), a random search over settings, indexes and
# whatever else Kasoku would change there, with as much time as Kasoku took, a
# person's configuration (cases/login/hand), Kasoku under the strict regulation,
# and Kasoku under the one that the service's original author allowed himself.
# Then Kasoku looks at the one tuned by hand: it should keep next to nothing.
# Ends with 1 if a figure falls short. BUDGET of a session, ROUNDS of the
# comparison and SEED may be set.
#
# WITHOUT leaves parts out, words among: relaxed (that session), mysqltuner, hand
# (the person's, with what Kasoku does on it), tuned (only what Kasoku does on the
# one tuned by hand). Kasoku and the random search alone, in about half an hour:
#
#	WITHOUT="relaxed mysqltuner hand" make bench-tuners
set -euo pipefail
cd "$(dirname "$0")/.."

budget=${BUDGET:-12m}
rounds=${ROUNDS:-8}
seed=${SEED:-1}
without=" ${WITHOUT:-} "
for part in $without; do
    case $part in
    relaxed | mysqltuner | hand | tuned) ;;
    *) echo "WITHOUT: there is no part $part; write words among: relaxed mysqltuner hand tuned" >&2; exit 2 ;;
    esac
done
with() { [[ $without != *" $1 "* ]]; }
work=$(mktemp -d /tmp/ktXXXXXX)
case=cases/login/case.sh
kasoku=$PWD/bin/kasoku
cleanup() {
    for dir in "$work"/*/; do "$case" down "${dir%/}" --purge || true; done
    rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"
! with mysqltuner || command -v mysqltuner >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mysqltuner >/dev/null

say() { printf '\n== %s\n' "$*"; }
up() { "$case" up "$work/$1" >/dev/null; }
tune() { "$kasoku" -f "$work/$1/kasoku.yaml" tune --budget "$budget" || case $? in 10 | 12) ;; *) exit 2 ;; esac; }

go build -o "$work.tuners" ./bench/tuners
trap 'cleanup; rm -f "$work.tuners" "$work.mysqltuner"' EXIT

[ -z "${without// /}" ] || say "Left out:$(printf ' %s' $without)"

say "Kasoku, strict regulation, at most $budget"
up kasoku
begun=$SECONDS
tune kasoku
took=$((SECONDS - begun))

if with relaxed; then
    say "Kasoku, relaxed regulation, at most $budget"
    up relaxed
    cat >>"$work/relaxed/kasoku.yaml" <<'END'
regulation:
  allow: [durability, session_durability, observability, staleness]
END
    tune relaxed
fi

if with mysqltuner; then
    say "mysqltuner after a load of 60 s"
    up mysqltuner
    "$kasoku" -f "$work/mysqltuner/kasoku.yaml" --quiet run --score-only --duration 60s >/dev/null
    # 1.9.9 divides by innodb_buffer_pool_chunk_size, which is 0 (chosen by the
    # server) since MariaDB 10.11.12; a copy without that line goes through.
    sed 's/if ( !defined( \(\$myvar{.innodb_buffer_pool_chunk_size.}\) ) )/if ( !\1 )/' "$(command -v mysqltuner)" >"$work.mysqltuner"
    perl "$work.mysqltuner" --defaults-file "$work/mysqltuner/secrets/client.cnf" --nocolor --forcemem "$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" --forceswap 1 >"$work/mysqltuner/advice.txt" 2>&1 </dev/null || true
    "$work.tuners" advice "$work/mysqltuner" <"$work/mysqltuner/advice.txt"
fi

say "Random search for ${took}s"
up random
"$work.tuners" random -t "${took}s" -seed "$seed" "$work/random"

if with hand; then
    say "By hand"
    up hand
    "$case" hand "$work/hand" >/dev/null
fi

say "All in turn"
up found
copies=()
for name in found mysqltuner random hand kasoku relaxed; do
    ! with "$name" || copies+=("$name=$work/$name")
done
status=0
"$work.tuners" compare -rounds "$rounds" -seed "$seed" "${copies[@]}" || status=$?

if with hand && with tuned; then
    say "A service that is well tuned: Kasoku under the strict regulation on the one tuned by hand"
    tune hand
fi
exit "$status"
