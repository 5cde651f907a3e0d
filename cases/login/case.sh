#!/bin/bash
# The bank login case: a real nginx, PHP-FPM (or Go) and MariaDB in a private
# directory, as plain processes. `case.sh help` tells the commands.
set -euo pipefail
umask 022

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
for part in common render process database; do
    # shellcheck source=/dev/null
    . "$CASE/lib/$part.sh"
done

usage() {
    cat <<EOF
Usage: case.sh COMMAND [DIR]     DIR defaults to $CASE/run

  up [DIR] [--variant php|go] [--port N] [--fresh]
                 copy, load the data and start; --fresh begins anew
  down [DIR] [--purge]
                 stop; --purge removes DIR too
  restart [DIR]  stop and start, configuration and data as they are
  reset [DIR]    data and sessions back to the first state (while serving)
  status [DIR]   what runs; exit status 1 if something does not
  hand [DIR]     apply the configuration tuned by hand (hand/README.md)
EOF
}

parse() {
    COMMAND=${1:-help}
    [ $# -gt 0 ] && shift
    DIR= VARIANT=php VARIANT_GIVEN= PORT= FRESH= PURGE=
    while [ $# -gt 0 ]; do
        case $1 in
        --variant) [ $# -gt 1 ] || fail "--variant needs php or go"; VARIANT=$2 VARIANT_GIVEN=1; shift ;;
        --variant=*) VARIANT=${1#*=} VARIANT_GIVEN=1 ;;
        --port) [ $# -gt 1 ] || fail "--port needs a number"; PORT=$2; shift ;;
        --port=*) PORT=${1#*=} ;;
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
    case $VARIANT in php | go) ;; *) fail "unknown variant $VARIANT; write php or go" ;; esac
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
    start_all
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
    stop_all
    rm -rf "$DIR"
}

announce() {
    cat <<EOF
The bank login ($VARIANT) answers on http://127.0.0.1:$HTTP_PORT/
  try:    curl -i -d 'login=user1&password=pass1' http://127.0.0.1:$HTTP_PORT/login
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

main "$@"
