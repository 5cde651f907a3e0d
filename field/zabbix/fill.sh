#!/bin/bash
# Fills Zabbix on a host that install.sh was run on: schema, 120 hosts by its API
# (their items, triggers and graphs come from Zabbix' own templates), and what its
# server would have written (fill.sql). While it is filled, the database need not
# survive a crash; afterwards it is as durable as Debian ships it. As root.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
SHIPPED=/usr/share/zabbix-server-mysql
trap 'mariadb -e "SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT, GLOBAL log_bin_trust_function_creators = DEFAULT"' EXIT
mariadb -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 0, GLOBAL log_bin_trust_function_creators = 1'
mariadb <<'END'
CREATE DATABASE zabbix CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER zabbix@localhost IDENTIFIED BY 'zabbix-and-nobody-else';
GRANT ALL ON zabbix.* TO zabbix@localhost;
END
for part in schema images data; do zcat "$SHIPPED/$part.sql.gz" | mariadb zabbix; done

API=http://127.0.0.1/api_jsonrpc.php
call() { # call METHOD PARAMS [TOKEN]: prints the answer
    curl -fsS -H 'Content-Type: application/json-rpc' "$API" -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2${3:+,\"auth\":\"$3\"}}"
}
token=$(call user.login '{"username":"Admin","password":"zabbix"}' | sed -n 's/.*"result":"\([^"]*\)".*/\1/p')
[ -n "$token" ] || { echo "fill.sh: the API gave no token" >&2; exit 1; }
id() { mariadb -N zabbix -e "$1"; }
template=$(id "SELECT hostid FROM hosts WHERE host = 'Linux by Zabbix agent' AND status = 3")
group=$(call hostgroup.create '{"name":"Field"}' "$token" | sed -n 's/.*"groupids":\["\([0-9]*\)".*/\1/p')
for first in $(seq 1 20 101); do
    hosts=$(for n in $(seq "$first" $((first + 19))); do
        printf '%s{"host":"server-%03d","groups":[{"groupid":"%s"}],"templates":[{"templateid":"%s"}],"tags":[{"tag":"site","value":"site-%d"}],"interfaces":[{"type":1,"main":1,"useip":1,"ip":"10.1.%d.%d","dns":"","port":"10050"}]}' \
            "$([ "$n" = "$first" ] || echo ,)" "$n" "$group" "$template" $((n % 7)) $((n / 100)) $((n % 100))
    done)
    call host.create "[$hosts]" "$token" | grep -q '"hostids"' || { echo "fill.sh: host.create failed" >&2; exit 1; }
done
mariadb zabbix <"$HERE/fill.sql" >/dev/null
mariadb -N zabbix -e "SELECT CONCAT_WS(',', h.hostid, h.name) FROM hosts h WHERE h.host LIKE 'server-%'" | { echo id,name; cat; } >"$HERE/hosts.csv"
mariadb -N zabbix -e "SELECT CONCAT_WS(',', i.itemid, h.hostid) FROM items i JOIN hosts h ON h.hostid = i.hostid WHERE h.host LIKE 'server-%' AND i.value_type IN (0, 3) AND i.flags = 0" | { echo id,host; cat; } >"$HERE/items.csv"
mariadb -N zabbix -e "SELECT 'items', COUNT(*) FROM items i JOIN hosts h ON h.hostid = i.hostid WHERE h.host LIKE 'server-%' UNION ALL SELECT 'history', COUNT(*) FROM history UNION ALL SELECT 'history_uint', COUNT(*) FROM history_uint
    UNION ALL SELECT 'trends', COUNT(*) FROM trends UNION ALL SELECT 'problems', COUNT(*) FROM problem UNION ALL SELECT 'events', COUNT(*) FROM events"
