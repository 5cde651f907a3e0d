# The wiki on several hosts behind a balancer, to measure what each more brings.
# On every one an Apache as found with the PHP and the MediaWiki settings that
# the first host has now, beside the service itself, which it does not touch.

FRONT_PORT=8080 BACK_PORT=8081
SPREAD_DIR=/srv/spread

# spread lets the first $SPREAD hosts answer behind the balancer.
spread() {
    [ "$SPREAD" -le "$HOSTS" ] || fail "there are $HOSTS hosts, not $SPREAD"
    local host given ready=0
    if [ "$SPREAD" = 0 ]; then
        for host in $(seq -f 'h%g' "$HOSTS"); do
            on "$host" "$SPREAD_DIR" "$REMOTE" <<'END'
systemctl stop -q spread-front spread-back 2>/dev/null || true
if [ -f "$1/placed" ]; then
    rm -rf "$2/wiki" "$2"/kasoku-* "$2/etc/php"
    if [ -d "$1/php.before" ]; then mv "$1/php.before" "$2/etc/php"; fi
fi
rm -rf "$1" /run/systemd/system/spread-*.service
systemctl daemon-reload
END
        done
        rm -f "$DIR/spread.ready"
        return
    fi
    # What a host has been given stays until spread 0.
    if [ -f "$DIR/spread.ready" ]; then ready=$(<"$DIR/spread.ready"); fi
    if [ "$ready" -lt "$SPREAD" ]; then
        given=$DIR/spread.tar
        on h1 "$REMOTE" <<'END' >"$given"
cd /
tar -cf - ./srv/case/apache2.found ".$1/etc/php" ".$1/wiki" $(ls -d ".$1"/kasoku-* 2>/dev/null)
END
        for host in $(seq -f 'h%g' $((ready + 1)) "$SPREAD"); do back "$host" <"$given"; done
        rm "$given"
        echo "$SPREAD" >"$DIR/spread.ready"
    fi
    front
    await_front
}

# back HOST < TAR starts a web server for the wiki there. Files of the first
# host come to the places that its configuration names; it has them already.
back() {
    local ssh=(ssh -F "$DIR/ssh_config" -o BatchMode=yes "$1")
    "${ssh[@]}" "mkdir -p $SPREAD_DIR/given && tar -C $SPREAD_DIR/given -xf -"
    local names=
    if [ "$1" != h1 ]; then names=$(on h1 <<<"dpkg-query -W -f '\${Package}\n'" | grep -Fxv -f <(on "$1" <<<"dpkg-query -W -f '\${Package}\n'") | tr '\n' ' ' || true); fi
    # shellcheck disable=SC2086
    on "$1" "$REMOTE" "$SPREAD_DIR" "$BACK_PORT" $names <<'END'
set -euo pipefail
DIR=$1 TO=$2 PORT=$3
shift 3
if [ $# -gt 0 ]; then
    # What Kasoku has installed on the first host; none of it starts here.
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
    rm /usr/sbin/policy-rc.d
fi
if [ ! -d "$DIR/wiki" ]; then
    touch "$TO/placed" # taken away by spread 0
    mkdir -p "$DIR/etc"
    if [ -d "$DIR/etc/php" ]; then mv "$DIR/etc/php" "$TO/php.before"; fi
    cp -a "$TO/given$DIR/etc/php" "$DIR/etc/php"
    rm -rf "$TO/given$DIR/etc"
    cp -a "$TO/given$DIR"/* "$DIR"
fi
rm -rf "$TO/apache2"
cp -a "$TO/given/srv/case/apache2.found" "$TO/apache2"
rm -rf "$TO/given"
mkdir -p "$TO/run" "$TO/log"
sed -i -e "s|^Listen 80\$|Listen $PORT|" -e "s|$DIR/run|$TO/run|g" -e "s|$DIR/log|$TO/log|g" -e "s|$DIR/etc/apache2|$TO/apache2|g" "$TO/apache2/apache2.conf"
sed -i -e "s|\\*:80>|*:$PORT>|" -e "s|$DIR/log|$TO/log|g" "$TO/apache2/sites-available/"*.conf
unit=/run/systemd/system/spread-back.service
mkdir -p /run/systemd/system
printf '[Service]\nType=forking\nPIDFile=%s\nExecStart=/usr/sbin/apache2 -d %s -f %s/apache2.conf -k start\nLimitNOFILE=65536\n' \
    "$TO/run/apache2.pid" "$TO/apache2" "$TO/apache2" >"$unit"
systemctl daemon-reload
systemctl restart spread-back
END
}

# front starts the balancer on the first host: Apache's event workers and
# mod_proxy_balancer, which Debian's apache2 has; the host with the fewest
# requests under way gets the next.
front() {
    local host members=()
    for host in $(seq -f 'h%g' "$SPREAD"); do members+=("$(address "$host"):$BACK_PORT"); done
    on h1 "$SPREAD_DIR" "$FRONT_PORT" "${members[@]}" <<'END'
set -euo pipefail
TO=$1 PORT=$2
shift 2
{
    printf 'ServerName front\nServerRoot %s\nListen %s\nPidFile %s/run/front.pid\nDefaultRuntimeDir %s/run\nMutex file:%s/run default\nErrorLog %s/log/front.log\nUser www-data\nGroup www-data\n' \
        "$TO" "$PORT" "$TO" "$TO" "$TO" "$TO"
    for m in mpm_event authz_core proxy proxy_http proxy_balancer lbmethod_bybusyness slotmem_shm; do
        printf 'LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n' "$m" "$m"
    done
    printf 'ProxyPreserveHost On\n<Proxy balancer://wiki>\n'
    printf 'BalancerMember http://%s retry=1\n' "$@"
    printf 'ProxySet lbmethod=bybusyness\n</Proxy>\nProxyPass / balancer://wiki/\n'
} >"$TO/front.conf"
printf '[Service]\nType=forking\nPIDFile=%s\nExecStart=/usr/sbin/apache2 -d %s -f %s/front.conf -k start\n' "$TO/run/front.pid" "$TO" "$TO" \
    >/run/systemd/system/spread-front.service
systemctl daemon-reload
systemctl restart spread-front
END
}

# limit caps the CPU of every host; 0 takes the cap away. Hosts of one machine
# share its CPUs: without a cap another one brings nothing.
limit() {
    local host
    for host in $(seq -f 'h%g' "$HOSTS"); do "$KASOKU" lab --name "$LAB" limit "$host" --cpus "$CPUS" >&2; done
}

# await_front waits until every host has answered some requests rightly.
await_front() {
    local host i at="api.php?action=query&meta=siteinfo&format=json"
    for host in $(seq -f 'h%g' "$SPREAD"); do
        for i in {1..60}; do
            [ "$(in_lab curl -s -m 20 -o /dev/null -w '%{http_code}' "http://$(address "$host"):$BACK_PORT/$at")" != 200 ] || continue 2
            sleep 0.5
        done
        fail "http://$(address "$host"):$BACK_PORT/$at does not answer with 200; look at $SPREAD_DIR/log on $host"
    done
    [ "$(in_lab curl -s -m 20 -o /dev/null -w '%{http_code}' "http://$WEB_ADDRESS:$FRONT_PORT/$at")" = 200 ] || fail "the balancer on h1 does not answer"
}
