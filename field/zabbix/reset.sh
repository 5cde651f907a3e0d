#!/bin/bash
# Takes back what visitors wrote, while Zabbix serves: their logins. As root.
set -euo pipefail
mariadb zabbix -e "DELETE FROM sessions; DELETE FROM profiles WHERE idx LIKE 'web.%'; DELETE FROM auditlog"
