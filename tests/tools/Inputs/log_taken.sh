#!/bin/sh
# Removes, replaces and overwrites the log of a training while it is written, then ends the training.
model=$1
mkdir "$2" && cd "$2" || exit 1
for how in removed replaced overwritten; do
  echo $how
  rm -f log
  heddle train "$model" --set train.epochs=100000000 --log log &
  run=$!
  until grep -q '"step"' log 2>/dev/null; do sleep 0.05; done
  case $how in
    removed) rm log ;;
    replaced) cp "$model" other && mv other log ;;
    overwritten) cat "$model" > log ;;
  esac
  kill -TERM $run
  wait $run
  echo "exit $?"
  test $how = removed || head -c "$(wc -c < "$model")" log | cmp - "$model" || exit 1
done
