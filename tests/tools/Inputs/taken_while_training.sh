#!/bin/sh
# Puts the model's text where a training is to save its weights, and where it would save them instead, then ends it.
model=$1 folder=$2 weights=${3:-w.safetensors}
mkdir "$folder" && cp "$model" "$folder/w.1.safetensors" && cd "$folder" || exit 1
heddle train "$model" --set train.epochs=100000000 --save "$weights" --log log &
run=$!
until grep -q '"step"' log 2>/dev/null; do sleep 0.05; done
cp "$model" "$weights"
kill -TERM $run
wait $run
echo "exit $?"
