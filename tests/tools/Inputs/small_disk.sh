# usage, in a mount namespace of its own: small_disk.sh FOLDER WEIGHTS MODEL
folder=$1 weights=$2 model=$3
mount -t tmpfs -o size=48k none "$folder"
cp "$weights" "$folder/w.st"
heddle train "$model" --save "$folder/w.st"; echo "save: exit $?"
heddle compile mlp --emit=cuda -o "$folder/text"; echo "compile: exit $?"
heddle train "$model" --set train.epochs=300 --log "$folder/log" 2>&1 | grep -v epoch >"$weights.said"
heddle train "$model" --set train.epochs=300 --log "$folder/log" 2>/dev/null; code=$?
cat "$weights.said"; echo "log: exit $code"
echo "files:" $(ls "$folder")
cmp "$weights" "$folder/w.st" && echo "the older weights are as they were"
