# Prints all of a host that Kasoku must put back, a line for each object: its
# section, its name and what it is, with tabs between. Runs as root under bash.
# What changes by itself is left out: logs, caches, state of daemons, data of the
# database, times and sizes of folders, and the times of alternatives (Debian's PHP
# writes its own anew with each start).
set -euo pipefail
export LC_ALL=C

prune=(/proc /sys /dev /run /tmp /var/tmp /var/log /var/cache /var/lib/mysql /var/lib/systemd /var/lib/nginx /var/lib/apt/lists /srv/field)
no=()
for dir in "${prune[@]}"; do no+=(-path "$dir" -prune -o); done
find / -xdev "${no[@]}" -type d -printf 'file\t%p\tfolder mode=%m owner=%U:%G\n'
find / -xdev "${no[@]}" -type l -printf 'file\t%p\tlink owner=%U:%G time=%T@ to=%l\n'
find / -xdev "${no[@]}" -path /var/lib/dpkg/alternatives -prune -o -type f -printf 'file\t%p\tmode=%m owner=%U:%G size=%s time=%T@ links=%n\n'
find /var/lib/dpkg/alternatives -type f -printf 'file\t%p\tmode=%m owner=%U:%G size=%s links=%n\n'
find / -xdev "${no[@]}" ! -type d ! -type l ! -type f -printf 'file\t%p\tspecial=%y mode=%m owner=%U:%G\n'
find / -xdev "${no[@]}" -type f -print0 | xargs -0 sha256sum -- | sed -nE 's/^\\?([0-9a-f]{64})  (.*)$/bytes\t\2\t\1/p'
if command -v getfacl >/dev/null; then
    getfacl -Rsp /etc /usr/local /var/lib 2>/dev/null | awk '/^# file: / { file = substr($0, 9) } /^(user|group|mask|default):[^:]*:/ && file { print "acl\t" file " " $0 "\tset" }'
fi

dpkg-query -W -f 'package\t${Package}:${Architecture}\t${Version} ${db:Status-Abbrev}\n'
apt-mark showmanual | sed 's/$/\tby hand/; s/^/package asked for\t/'
getent passwd | sed -E 's/^([^:]*):(.*)$/user\t\1\t\2/'
getent group | sed -E 's/^([^:]*):(.*)$/group\t\1\t\2/'
systemctl list-unit-files --no-legend --no-pager | awk '$2 != "transient" { print "unit\t" $1 "\t" $2 }'
systemctl list-units --type=service,socket,timer,path --state=active --no-legend --no-pager --plain | awk '{ print "running unit\t" $1 "\t" $4 }'
sysctl -a 2>/dev/null | sed -nE 's/^([^ ]+) = (.*)$/\1\t\2/p' |
    grep -vE '^(kernel\.(random|ns_last_pid|pty\.nr|perf_event_max_sample_rate|perf_cpu_time_max_percent)|fs\.(dentry-state|file-nr|inode-nr|inode-state|aio-nr|quota)|net\.netfilter\.nf_conntrack_count|net\.ipv4\.tcp_mem|net\.ipv4\.udp_mem)' |
    sed 's/^/sysctl\t/'

command -v mariadb >/dev/null || exit 0
sql() { mariadb --batch --skip-column-names "$@"; }
sql -e 'SHOW GLOBAL VARIABLES' | grep -vE '^(timestamp|gtid_[a-z_]*pos|gtid_binlog_state|pseudo_thread_id|rand_seed[12]|last_insert_id|identity|insert_id)	' | sed 's/^/variable\t/'
sql -e "SELECT CONCAT(User, '@', Host), Priv FROM mysql.global_priv" | sed 's/^/database user\t/'
sql -e "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('information_schema', 'performance_schema', 'sys')" | while read -r table; do
    sql -e "SHOW CREATE TABLE \`${table%%.*}\`.\`${table#*.}\`" | cut -f2- | sed -E "s/ AUTO_INCREMENT=[0-9]+//; s|^|table\t$table\t|"
done
