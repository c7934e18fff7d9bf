# trials_disk.sh FOLDER MODEL: trials on a disk of 240 kB, which holds some of them, beside FOLDER/sweep and FOLDER/folds.
set -u
mount -t tmpfs -o size=240k none "$1/disk" || exit 1
sweep="heddle sweep $2 --vary train.seed=1,2,3 -o $1/disk/sweep --quiet"
folds="heddle train $2 --folds 3 --run $1/disk/folds --quiet"
$sweep
echo "sweep: exit $?"
mount -o remount,size=8m "$1/disk"
$sweep --resume && cmp "$1/sweep/trials.jsonl" "$1/disk/sweep/trials.jsonl" &&
  cmp "$1/sweep/best.safetensors" "$1/disk/sweep/best.safetensors" && echo "sweep: the same trials"
rm -r "$1/disk/sweep"
mount -o remount,size=240k "$1/disk"
$folds
echo "folds: exit $?"
mount -o remount,size=8m "$1/disk"
$folds --resume && cmp "$1/folds/folds.json" "$1/disk/folds/folds.json" && echo "folds: the same folds"
rm -r "$1/disk/folds"
mount -o remount,ro "$1/disk"
heddle sweep "$2" --vary train.seed=1,2 -o "$1/disk/new"
heddle train "$2" --folds 2 --run "$1/disk"
true  # both were refused
