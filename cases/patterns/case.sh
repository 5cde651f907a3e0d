#!/bin/bash
# The patterns case: a small service that does per request what a service
# should not, or does not, on real servers in a private directory. `case.sh
# help` tells the commands.
set -euo pipefail
trap 'exit 130' INT
trap 'exit 143' TERM
umask 022

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
for part in common process data render; do
    # shellcheck source=/dev/null
    . "$CASE/lib/$part.sh"
done

usage() {
    cat <<EOT
Usage: [CASE_DIR=DIR] case.sh COMMAND     DIR defaults to $CASE/run

  start [php|go] [bad|clean] [otel=http://127.0.0.1:PORT]
           start; what runs with other words than these is changed to them
           (default: php bad, no spans), data as after reset
  stop     stop every server
  purge    stop, and remove the directory
  reset    data and caches back to the first state (while serving)
  url      print the service's address
  status   what runs; exit status 1 if something does not
EOT
}

# parse_start reads LANGUAGE, FORM and OTEL in any order.
parse_start() {
    LANGUAGE=php FORM=bad OTEL=
    local word
    for word in "$@"; do
        case $word in
        php | go) LANGUAGE=$word ;;
        bad | clean) FORM=$word ;;
        otel=) OTEL= ;;
        otel=http://*) OTEL=${word#otel=}; OTEL=${OTEL%/} ;;
        *) fail "start does not know $word; write php or go, bad or clean, otel=http://127.0.0.1:PORT" ;;
        esac
    done
}

start_case() {
    parse_start "$@"
    check_programs
    trap 'stop_after_failure' EXIT
    if [ -f "$DIR/case.env" ]; then
        local language=$LANGUAGE form=$FORM otel=$OTEL
        load_state
        stop web; stop php; stop app
        LANGUAGE=$language FORM=$form OTEL=$otel
    else
        check_directory
        pick_ports
        make_folders
        make_passwords
    fi
    render_all
    [ -d "$DIR/db/mysql" ] || create_database
    start_all
    save_state
    reset_data
    trap - EXIT
    echo "http://127.0.0.1:$HTTP_PORT"
}

# stop_after_failure, also of Ctrl-C, leaves the logs, but no process.
stop_after_failure() {
    local status=$?
    trap - EXIT INT TERM
    stop_all || true
    tell "start failed or was ended; the logs are in $DIR/log. Run start again, or purge."
    exit "$status"
}

purge() {
    [ -e "$DIR" ] || return 0
    [ -f "$DIR/$MARKER" ] || fail "$DIR was not made by case.sh; not removed"
    "$CASE/../lib/take-back" "$DIR"
    stop_all
    rm -rf "$DIR"
}

main() {
    local command=${1:-help}
    [ $# -gt 0 ] && shift
    DIR=${CASE_DIR:-$CASE/run}
    case $DIR in /*) ;; *) DIR=$PWD/$DIR ;; esac
    DIR=${DIR%/}
    case $command in start | help | -h | --help) ;; *)
        [ $# = 0 ] || fail "$command takes no words, but got: $*" ;;
    esac
    case $command in
    start) start_case "$@" ;;
    stop) need_case; stop_all ;;
    purge) purge ;;
    reset) need_state; reset_data ;;
    url) need_state; echo "http://127.0.0.1:$HTTP_PORT" ;;
    status) need_state; status_all ;;
    help | -h | --help) usage ;;
    *) usage >&2; fail "unknown command $command" ;;
    esac
}

main "$@"
