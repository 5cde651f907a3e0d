#!/bin/bash
# Fills Request Tracker on a host that install.sh was run on: schema, people,
# and three years of tickets (fill.sql). While it is filled, the database need not
# survive a crash; afterwards it is as durable as Debian ships it. As root.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
trap 'mariadb -e "SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT"' EXIT
mariadb -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 0'
rt-setup-database-5 --action init --dba root --dba-password '' >/dev/null
cd /
runuser -u www-data -- perl "$HERE/people.pl" 2>/dev/null
mariadb rtdb <"$HERE/fill.sql" >/dev/null
# What reset.sh goes back to, and which tickets visitors look at: half of them the
# newest tenth. RT writes brackets as entities in pages and not in JSON, so what
# stands in them is left out.
mariadb rtdb <<'END'
CREATE DATABASE field_keep;
CREATE TABLE field_keep.Tickets (PRIMARY KEY (id)) AS SELECT * FROM Tickets;
CREATE TABLE field_keep.newest (name VARCHAR(40) PRIMARY KEY, id BIGINT NOT NULL) AS
    SELECT 'Transactions' AS name, MAX(id) AS id FROM Transactions UNION ALL SELECT 'Attachments', MAX(id) FROM Attachments UNION ALL SELECT 'Attributes', MAX(id) FROM Attributes
    UNION ALL SELECT 'GroupMembers', MAX(id) FROM GroupMembers UNION ALL SELECT 'CachedGroupMembers', MAX(id) FROM CachedGroupMembers;
END
mariadb -N rtdb -e "SELECT CONCAT_WS(',', id, SUBSTRING_INDEX(Subject, ' (', 1)) FROM ((SELECT id, Subject FROM Tickets WHERE Status <> 'deleted' ORDER BY id DESC LIMIT 1400) UNION ALL (SELECT id, Subject FROM Tickets WHERE Status <> 'deleted' AND id < 13000 ORDER BY MD5(id) LIMIT 1400)) x" |
    { echo id,subject; cat; } >"$HERE/tickets.csv"
# Who calls: those who write much call much.
mariadb -N rtdb -e "SELECT u.EmailAddress FROM Tickets t JOIN Users u ON u.id = t.Creator WHERE t.id % 29 = 0" | { echo email; cat; } >"$HERE/customers.csv"
mariadb -N rtdb -e "SELECT 'tickets', COUNT(*) FROM Tickets UNION ALL SELECT 'transactions', COUNT(*) FROM Transactions UNION ALL SELECT 'attachments', COUNT(*) FROM Attachments UNION ALL SELECT 'group members', COUNT(*) FROM CachedGroupMembers"
