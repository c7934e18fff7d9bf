# usage, in a mount namespace of its own: small_temporary.sh FOLDER MODEL
folder=$1 model=$2
mkdir -p "$folder/disk" "$folder/cold"
export HEDDLE_CACHE="$folder/warm"
heddle bench "$model" --seconds=0.01 2>/dev/null; echo "warm: exit $?"
for size in 4 8 16 24 32; do
  mount -t tmpfs -o size=${size}k none "$folder/disk"
  TMPDIR="$folder/disk" heddle bench "$model" --seconds=0.01 2>&1; echo "$size kB: exit $?, left:" $(ls "$folder/disk")
  umount "$folder/disk"
done
# With a compiler that has been checked, one that makes room, as another process may, just before it reads its source.
printf '#!/bin/sh\nrm -f "%s/disk/filler"\nexec g++ "$@"\n' "$folder" >"$folder/gxx" && chmod +x "$folder/gxx"
export HEDDLE_CACHE="$folder/cold" HEDDLE_CXX="$folder/gxx"
heddle bench tiny_mlp --seconds=0.01 2>/dev/null; echo "another model: exit $?"
mount -t tmpfs -o size=2m none "$folder/disk"
head -c 3000000 /dev/zero >"$folder/disk/filler" 2>/dev/null
TMPDIR="$folder/disk" heddle bench "$model" --seconds=0.01 2>&1; echo "cold: exit $?"
rm -f "$folder/disk/filler"
TMPDIR="$folder/disk" heddle bench "$model" --seconds=0.01 2>/dev/null; echo "with room: exit $?"
# Room for the source, and none for what the compiler makes of it.
umount "$folder/disk" && mount -t tmpfs -o size=192k none "$folder/disk"
rm -r "$folder/cold"
TMPDIR="$folder/disk" heddle bench "$model" --seconds=0.01 2>&1; echo "cold and small: exit $?"
