# usage, in a mount namespace of its own: full_disk.sh FOLDER
export HEDDLE_CACHE="$1/cache"
mount -t tmpfs -o size=1m none "$1/disk"
train() { TMPDIR="$1/disk" heddle train "$1/model.json" --device=cuda; }
kept() { ls "$HEDDLE_CACHE" | grep -c cubin; }
head -c 1020k /dev/zero >"$1/disk/filler"
train "$1"; echo "no room: exit $?, kept: $(kept)"
head -c 740k /dev/zero >"$1/disk/filler"
train "$1"; echo "room for the source: exit $?, kept: $(kept)"
umount "$1/disk"
train "$1" 2>/dev/null; echo "with room: exit $?"
