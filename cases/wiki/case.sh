#!/bin/bash
# The wiki case: MediaWiki from Debian's package under a real Apache and
# MariaDB in a private directory, as plain processes. `case.sh help` tells the
# commands.
set -euo pipefail
umask 022

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
for part in common render process database content reset; do
    # shellcheck source=/dev/null
    . "$CASE/lib/$part.sh"
done

usage() {
    cat <<END
Usage: case.sh COMMAND [DIR]     DIR defaults to $CASE/run

  up [DIR] [--port N] [--address HOST:PORT] [--fresh]
                 load the content and start; --fresh begins anew; --address is
                 how readers reach it, if not at 127.0.0.1
  down [DIR] [--purge]
                 stop; --purge removes DIR too
  restart [DIR]  stop and start, configuration and data as they are
  reset [DIR]    edits are taken back (while serving)
  status [DIR]   what runs; exit status 1 if something does not
  content        build the content, if it is not there, and say where it is
END
}

parse() {
    COMMAND=${1:-help}
    [ $# -gt 0 ] && shift
    DIR= PORT= ADDRESS= FRESH= PURGE=
    while [ $# -gt 0 ]; do
        case $1 in
        --port) [ $# -gt 1 ] || fail "--port needs a number"; PORT=$2; shift ;;
        --port=*) PORT=${1#*=} ;;
        --address) [ $# -gt 1 ] || fail "--address needs HOST:PORT"; ADDRESS=$2; shift ;;
        --address=*) ADDRESS=${1#*=} ;;
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
    case $PORT in *[!0-9]*) fail "--port needs a number, not $PORT" ;; esac
}

up() {
    if [ -n "$FRESH" ]; then purge; fi
    if [ -f "$DIR/case.env" ]; then
        load_state
        start_all
        tell "$DIR was set up before; it runs with its configuration and data as they are."
        announce
        return
    fi
    check_programs
    content
    check_directory
    trap 'stop_after_failure' EXIT
    pick_ports
    render_all
    create_database
    start_all
    record_golden
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
    cat <<END
The wiki answers on http://$ADDRESS/wiki/メインページ
  stack:  $DIR/kasoku.yaml
  tune:   cd $DIR && kasoku tune
  stop:   $CASE/case.sh down $DIR
END
}

main() {
    parse "$@"
    case $COMMAND in
    up) up ;;
    down)
        if [ -n "$PURGE" ]; then purge; else need_case; stop_all; fi ;;
    restart) need_state; stop_all; start_all; announce ;;
    reset)
        need_state
        running db || fail "the database does not run; run: $CASE/case.sh up $DIR"
        reset_data ;;
    status) need_state; status_all ;;
    content) check_programs; content; echo "$CONTENT" ;;
    build) check_programs; build_content ;; # content calls it
    help | -h | --help) usage ;;
    *) usage >&2; fail "unknown command $COMMAND" ;;
    esac
}

main "$@"
