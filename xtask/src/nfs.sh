#!/usr/bin/env bash
# Jobs whose ranks, on two hosts, write one output on NFS: the first process of a user-mode kernel.
#
# The kernel shows the machine's files, read-only. Of its variables FOLDER has hosts.sh, the inputs, what one process
# makes of them (alone.*), and shim-MPI for each of MPIS; GYRASE is the program. hosts.sh makes two hosts, each an NFS
# client of its own; the first is the server too. The last line is "every job wrote the bytes of one process", if so.
set -euo pipefail
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
memory=/mnt              # files of the guest, which all its processes see
hosts=$memory/hosts      # what hosts.sh makes
shared=$memory/nfs       # where each host mounts what the server exports
exported=/srv
patience=600             # seconds for a job

# Devices, modules and a place to write.
boot() {
    mount -t proc none /proc
    mount -t sysfs none /sys
    ln -s /proc/self/fd /dev/fd
    mkdir /dev/shm /dev/pts
    mount -t tmpfs none /dev/shm
    mount -t devpts none /dev/pts
    mount -t tmpfs none "$memory"
    mkdir -p "$hosts" "$shared" "$memory/lib"
    ln -s /usr/lib/uml/modules "$memory/lib/modules"
    modprobe --all --dirname="$memory" veth nfsd nfsv3 nfsv4
    # A server waits so long, in seconds, for what clients of its past had locked: there were none.
    echo 1 > /proc/sys/fs/nfs/nlm_grace_period
}

on() { "$hosts/ssh" "$@"; }

# The services of a host that locks files on NFS 3.
lock() {
    mount -t tmpfs none /run
    mount -t tmpfs none /var/lib/nfs
    mkdir -p /run/rpcbind /var/lib/nfs/{sm,sm.bak,v4recovery}
    touch /var/lib/nfs/{etab,rmtab,state}
    rpcbind
    rpc.statd --no-notify
}

serve() {
    lock
    mount -t tmpfs none "$exported"
    mount -t nfsd none /proc/fs/nfsd
    exportfs -i -o rw,sync,no_root_squash,no_subtree_check,fsid=0 "*:$exported"
    rpc.nfsd --grace-time 10 --lease-time 10 8
    rpc.mountd --no-udp 2> /dev/null
}

# Each host mounts version $1 anew: none has kept a page.
fresh() {
    local version=$1 path=/ host
    [ "$version" = 3 ] && path=$exported
    for host in node1 node2; do
        on $host "if mountpoint -q $shared; then umount $shared; fi"
        on $host mount -t nfs -o "vers=$version" "10.77.0.1:$path" "$shared"
    done
}

# Has the two hosts write a file, in turn $1 bytes each, after both have read it; prints how many bytes are lost.
in_turn() {
    head -c 1048576 /dev/zero > "$exported/turns"
    python3 - "$1" "$(cat "$hosts/node1")" "$(cat "$hosts/node2")" "root$shared/turns" <<'PY'
import os, sys
piece, *hosts = map(int, sys.argv[1:4])
files = [os.open(f"/proc/{host}/{sys.argv[4]}", os.O_RDWR) for host in hosts]
size = os.fstat(files[0]).st_size
for file in files:
    os.pread(file, size, 0)
for number, offset in enumerate(range(0, size, piece)):
    os.pwrite(files[number % 2], b"x" * min(piece, size - offset), offset)
for file in files:
    os.close(file)
PY
    tr -d x < "$exported/turns" | wc -c
}

# The hosts must be clients that send whole pages back: otherwise no job could go wrong.
check_clients() {
    local halves blocks
    fresh "$1"
    halves=$(in_turn 2048)
    blocks=$(in_turn 65536)
    echo "NFS $1: of 1 MiB that both hosts write in turn $halves bytes are lost in half pages, $blocks in blocks"
    if [ "$halves" -eq 0 ] || [ "$blocks" -gt 0 ]; then
        echo "NFS $1: these hosts are not clients that send whole pages back, so their jobs would prove nothing"
        return 1
    fi
}

# job MPI RANKS COMMAND...: even ranks on one host, odd ones on the other.
job() {
    local mpi=$1 ranks=$2 words
    shift 2
    case $mpi in
        openmpi)
            export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
            words=(--mca plm_rsh_agent "$hosts/ssh" --host "node1:$ranks,node2:$ranks" --map-by node --bind-to none
                -x TMPDIR -x GYRASE_MPI_DIR)
            ;;
        mpich) words=(-bootstrap ssh -bootstrap-exec "$hosts/ssh" -hosts node1,node2 -ppn 1) ;;
    esac
    TMPDIR=$hosts/scratch GYRASE_MPI_DIR=$FOLDER/shim-$mpi timeout --kill-after=10 "$patience" \
        "mpirun.$mpi" "${words[@]}" -n "$ranks" "$@"
}

# for_each COMMAND...: with each MPI, number of ranks and kind of output as its last words.
for_each() {
    local mpi ranks kind
    for mpi in ${MPIS//,/ }; do
        for ranks in 2 4; do
            for kind in gyk gydb; do "$@" "$mpi" $ranks $kind; done
        done
    done
}

# attempt VERSION MPI RANKS KIND: a job that fails leaves no output.
attempt() {
    local output=$2-$3.$4 words
    case $4 in
        gyk) words=(count -k 63 "$FOLDER"/{reads.fq,heavy.fa}) ;;
        gydb) words=(db build "$FOLDER/genomes.fa" --taxonomy "$FOLDER/taxa.tsv") ;;
    esac
    if ! job "$2" "$3" "$GYRASE" -q "${words[@]}" -t 1 -o "$shared/$output"; then
        echo "NFS $1, $2, $3 ranks, $4: the job failed"
        rm -f "$exported/$output"
    fi
}

# judge VERSION MPI RANKS KIND: the second host, which has no page of the output, and the server read it.
judge() {
    local output=$2-$3.$4 alone=$FOLDER/alone.$4 said="the bytes of one process"
    if ! cmp "$alone" "$exported/$output" || ! on node2 cmp "$alone" "$shared/$output"; then
        said="WRONG"
        wrong=$((wrong + 1))
    fi
    echo "NFS $1, $2, $3 ranks, $4: $said"
}

# All jobs on a version, then a look at what they wrote.
jobs_on() {
    local began=$SECONDS
    check_clients "$1"
    for_each attempt "$1"
    fresh "$1"
    for_each judge "$1"
    echo "NFS $1: after $((SECONDS - began)) s"
    rm -f "$exported"/*
}

# On the first host.
all() {
    wrong=0
    serve
    on node2 "bash '$0' lock"
    for version in 3 4.1 4.2; do jobs_on $version; done
    [ $wrong -eq 0 ]
}

begin() {
    boot
    bash "$FOLDER/hosts.sh" "$hosts" bash "$0" all
}

if [ $# -gt 0 ]; then
    "$@"
else
    (bash "$0" begin && echo "every job wrote the bytes of one process") || true
    echo o > /proc/sysrq-trigger
    sleep 60
fi
