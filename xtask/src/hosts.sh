#!/usr/bin/env bash
# Two hosts on one machine: namespaces of their own for network, name and mounts, and a cable between them.
#
# hosts.sh FOLDER COMMAND...    runs the command on node1; FOLDER/ssh stands for ssh, and /etc/hosts knows node1 and
# node2. Each host has its own /dev/shm and its own FOLDER/scratch. The hosts end with the command.
set -eu
folder=$1
shift
mkdir -p "$folder/scratch"
for number in 1 2; do
    rm -f "$folder/node$number"
    unshare --net --uts --mount bash -c "
        hostname node$number
        mount --make-rprivate /
        mount -t tmpfs none /dev/shm
        mount -t tmpfs none '$folder/scratch'
        ip link set lo up
        echo \$\$ > '$folder/node$number'
        exec sleep 3600" &
done
trap 'kill $(cat "$folder"/node?) 2>/dev/null || true' EXIT
for number in 1 2; do
    for _ in $(seq 100); do [ -s "$folder/node$number" ] && break || sleep 0.1; done
done
one=$(cat "$folder/node1") two=$(cat "$folder/node2")
ip link add "g$one" type veth peer name "g$two"
printf '127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n' > "$folder/names"
for number in 1 2; do
    process=$(cat "$folder/node$number")
    ip link set "g$process" netns "$process"
    nsenter -t "$process" -n ip addr add "10.77.0.$number/24" dev "g$process"
    nsenter -t "$process" -n ip link set "g$process" up
    nsenter -t "$process" -m mount --bind "$folder/names" /etc/hosts
done
cat > "$folder/ssh" <<SSH
#!/bin/bash
while [[ \$1 == -* ]]; do case \$1 in -[lpiFo]) shift 2 ;; *) shift ;; esac; done
host=\$1
shift
exec nsenter -t "\$(cat "$folder/\$host")" --net --uts --mount bash -c "cd '\$PWD'; \$*"
SSH
chmod +x "$folder/ssh"
nsenter -t "$one" --net --uts --mount --wd="$PWD" "$@"
