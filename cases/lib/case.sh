# The driver of a case: real servers in a private directory, as plain processes.
# case.sh of a case sets CASE, NAME and TITLE, reads this, defines what is its own
#
#   case_sql      prints the SQL that makes and fills the tables
#   case_reset    what else a reset does, after sql/reset.sql
#   case_grants   what else the application may do in the database (optional)
#   case_hand     what else the settings of the program need by hand (optional)
#   case_begin    what the application is told once it runs with fresh data (optional)
#   case_scenario writes what else the scenario needs, and the application (optional)
#
# and calls main. SIZES lists the sizes of its data, the first by default; "": one.
# A folder php or go is a variant, conf/redis brings a Redis, conf/memcached one for rows
# and one for sessions, conf/haproxy a balancer in front. HEALTH is the path that tells
# whether the service answers. PROGRAM is where the Go
# program is built, below DIR, from the copy of its source in DIR/app.
# CHECKOUT, if not empty, makes the folder of the source a git checkout, in which a program
# of Go is built.
set -euo pipefail
umask 022

LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
SIZES=${SIZES:-} TRY=${TRY:-} HEALTH=${HEALTH:-/health} PROGRAM=${PROGRAM:-bin/$NAME-app} CHECKOUT=${CHECKOUT:-}
VARIANTS=
for part in php go; do
    if [ -d "$CASE/$part" ]; then VARIANTS+="$part "; fi
done
for part in common render process database; do
    # shellcheck source=/dev/null
    . "$LIB/$part.sh"
done

case_grants() { :; }
case_scenario() { :; }
case_hand() { :; }
case_begin() { :; }

usage() {
    cat <<EOF
Usage: case.sh COMMAND [DIR]     DIR defaults to $CASE/run

  up [DIR] [--variant php|go] [--port N] [--fresh]${SIZES:+ [--size ${SIZES// /|}]}
                 copy, load the data and start; --fresh begins anew
  down [DIR] [--purge]
                 stop; --purge removes DIR too
  restart [DIR]  stop and start, configuration and data as they are
  reset [DIR]    data and sessions back to the first state (while serving)
  status [DIR]   what runs; exit status 1 if something does not
  hand [DIR]     apply the configuration tuned by hand (hand/README.md)
EOF
    [ ! -d "$CASE/hand/src" ] || echo "       [--source]  and the program of hand/src"
}

parse() {
    COMMAND=${1:-help}
    [ $# -gt 0 ] && shift
    DIR= VARIANT=${VARIANTS%% *} VARIANT_GIVEN= PORT= FRESH= PURGE= SIZE=${SIZES%% *} SOURCE=
    while [ $# -gt 0 ]; do
        case $1 in
        --variant) [ $# -gt 1 ] || fail "--variant needs php or go"; VARIANT=$2 VARIANT_GIVEN=1; shift ;;
        --variant=*) VARIANT=${1#*=} VARIANT_GIVEN=1 ;;
        --port) [ $# -gt 1 ] || fail "--port needs a number"; PORT=$2; shift ;;
        --port=*) PORT=${1#*=} ;;
        --size) [ $# -gt 1 ] || fail "--size needs one of: $SIZES"; SIZE=$2; shift ;;
        --size=*) SIZE=${1#*=} ;;
        --source) SOURCE=1 ;;
        --fresh) FRESH=1 ;;
        --purge) PURGE=1 ;;
        -*) fail "unknown option $1; see case.sh help" ;;
        *) [ -z "$DIR" ] || fail "two directories given: $DIR and $1"; DIR=$1 ;;
        esac
        shift
    done
    DIR=${DIR:-$CASE/run}
    case $DIR in /*) ;; *) DIR=$PWD/$DIR ;; esac
    DIR=${DIR%/}
    case " $VARIANTS" in *" $VARIANT "*) ;; *) fail "unknown variant $VARIANT; write one of: $VARIANTS" ;; esac
    case " $SIZES " in *" $SIZE "*) ;; *) fail "unknown size $SIZE; write one of: ${SIZES:-none}" ;; esac
    [ -z "$SOURCE" ] || [ -d "$CASE/hand/src" ] || fail "this case has no hand/src"
    case $PORT in *[!0-9]*) fail "--port needs a number, not $PORT" ;; esac
}

up() {
    if [ -n "$FRESH" ]; then purge; fi
    if [ -f "$DIR/case.env" ]; then
        load_state "${VARIANT_GIVEN:+$VARIANT}"
        start_all
        tell "$DIR was set up before; it runs with its configuration and data as they are."
        announce
        return
    fi
    check_programs
    check_directory
    trap 'stop_after_failure' EXIT
    pick_ports
    render_all
    create_database
    case_scenario
    start_all
    case_begin
    save_state
    trap - EXIT
    announce
}

# stop_after_failure leaves the logs, but no process and no finished state.
stop_after_failure() {
    local status=$?
    stop_all || true
    tell "up failed; the logs are in $DIR/log. Run up again to begin anew."
    exit "$status"
}

purge() {
    [ -e "$DIR" ] || return 0
    [ -f "$DIR/$MARKER" ] || fail "$DIR was not made by case.sh; not removed"
    "$CASE/../lib/take-back" "$DIR"
    stop_all
    rm -rf "$DIR"
}

announce() {
    cat <<EOF
$TITLE ($VARIANT) answers on http://127.0.0.1:$HTTP_PORT/
  try:    $(printf "$TRY" "http://127.0.0.1:$HTTP_PORT")
  stack:  $DIR/kasoku.yaml
  tune:   cd $DIR && kasoku tune
  stop:   $CASE/case.sh down $DIR
EOF
}

main() {
    parse "$@"
    case $COMMAND in
    up) up ;;
    down)
        if [ -n "$PURGE" ]; then purge; else need_case; stop_all; fi ;;
    restart) need_state; stop_all; start_all; announce ;;
    reset) need_state; reset_data ;;
    status) need_state; status_all ;;
    hand) need_state; apply_hand; announce ;;
    help | -h | --help) usage ;;
    *) usage >&2; fail "unknown command $COMMAND" ;;
    esac
}
