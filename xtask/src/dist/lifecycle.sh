# The life of the Debian package, as root in a copy of this system that vanishes: `lifecycle.sh OLD.deb NEW.deb NEW_VERSION STORE`, where
# STORE is a file that a much older server has written.
# Every line that begins with "ok" is something that was seen to be so.
set -eu
old=$1 new=$2 version=$3 ancient=$4
data=/var/lib/caudal
server=

fail() { echo "FAIL $*"; exit 1; }
holds() { what=$1; shift; if "$@" > /dev/null 2>&1; then echo "ok $what"; else fail "$what"; fi; }
mode() { [ "$(stat -c '%U:%G %a' "$1")" = "$2" ]; }
without() { ! "$@"; }

# What the unit does, for systems where systemd does not run.
start() {
    setpriv --reuid caudal --regid caudal --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
        env -i CAUDAL_CONFIG=/etc/caudal/caudal.toml /usr/bin/caudal serve > /tmp/server.log 2>&1 &
    server=$!
    tries=0
    until caudal status > /dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ] || ! kill -0 $server 2> /dev/null; then cat /tmp/server.log; fail "the server starts"; fi
        sleep 0.1
    done
}
stop() { kill -TERM $server; wait $server || fail "the server ends in order"; }

ip link set lo up
dpkg -i "$old" > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it is installed"; }
echo "ok it is installed"
holds "its data is its user's alone" mode $data "caudal:caudal 700"
holds "its configuration is not for others" mode /etc/caudal/caudal.toml "root:caudal 640"
holds "its user cannot log in" sh -c "getent passwd caudal | grep -q nologin"
holds "manual pages are there" test -s /usr/share/man/man1/caudal-serve.1.gz
holds "completions are there" test -s /usr/share/bash-completion/completions/caudal
holds "systemd-analyze is there (of the package systemd)" command -v systemd-analyze
holds "the unit is understood" systemd-analyze verify /lib/systemd/system/caudal.service
systemd-analyze security --offline=true --threshold=15 /lib/systemd/system/caudal.service > /tmp/security.log 2>&1 \
    || { tail -3 /tmp/security.log; fail "the unit is hardened"; }
echo "ok the unit is hardened: $(tail -1 /tmp/security.log)"

start
caudal deploy /usr/share/doc/caudal/examples/order.bpmn > /dev/null
order=$(caudal start order --variables '{"amount": 7}')
holds "it runs without privilege" sh -c "[ \$(stat -c %U /proc/$server) = caudal ]"
holds "its files are its user's alone" mode $data/caudal.db "caudal:caudal 600"
stop
echo '# kept by its owner' >> /etc/caudal/caudal.toml
wanted=/etc/systemd/system/multi-user.target.wants/caudal.service
holds "it starts with the system" test -h $wanted
# As `systemctl disable` does it.
rm $wanted

dpkg -i --force-confold "$new" > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it is upgraded"; }
holds "it is upgraded" sh -c "dpkg-query -W -f '\${Version}' caudal | grep -qx '$version'"
holds "a changed configuration is kept" grep -q "kept by its owner" /etc/caudal/caudal.toml
holds "a service that was disabled stays so" without test -e $wanted
start
holds "what ran before the upgrade still runs" sh -c "caudal instance $order | grep -q ACTIVE"
caudal work charge-card --complete-with '{"paid": true}' --count 1 > /dev/null 2>&1
holds "and goes on" sh -c "caudal instance $order | grep -q COMPLETED"
holds "a backup is made" caudal backup /tmp/backup.db
stop

# As the book says it.
mv $data $data.before
holds "the backup is restored" caudal restore /tmp/backup.db --data $data
chown -R caudal:caudal $data
holds "and is whole" setpriv --reuid caudal --regid caudal --clear-groups caudal check --data $data
start
holds "and the server goes on with it" sh -c "caudal instance $order | grep -q COMPLETED"
holds "as its user's alone" mode $data "caudal:caudal 700"
stop

dpkg -r caudal > /dev/null 2>&1
holds "removed, the binary is gone" without test -e /usr/bin/caudal
holds "removed, configuration and data stay" test -s $data/caudal.db -a -s /etc/caudal/caudal.toml

# Data of a server long gone is there when this one is installed.
rm $data/*
install -o caudal -g caudal -m 0600 "$ancient" $data/caudal.db
dpkg -i --force-confold "$new" > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it is installed again"; }
start
holds "what a much older server left runs on" sh -c "[ \$(caudal instances --state active | grep -c ACTIVE) = 4 ]"
stop
holds "all of it is whole" setpriv --reuid caudal --regid caudal --clear-groups caudal check --data $data
dpkg -P caudal > /dev/null 2>&1
holds "purged, the configuration is gone" without test -e /etc/caudal
holds "purged, the data stays" test -s $data/caudal.db
