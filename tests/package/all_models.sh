#!/usr/bin/env bash
# A few steps of every model from a package, with compilers hidden: the weights are those that the model file gives.
# usage: tests/package/all_models.sh BUILD [MODEL...]
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd) build=$(realpath "${1:?BUILD}")
shift
# shellcheck source=tools/gpu/training.sh
. "$root/tools/gpu/training.sh"
models=("$@")
[[ ${#models[@]} -gt 0 ]] || mapfile -t models < <(cd "$root/models" && printf '%s\n' *.json | sed 's/[.]json$//')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$build/bin/heddle" "$work/bin/heddle"
python3 "$root/tools/gpu/make_data.py" "$work/data" 640
hidden=(env PATH="$work/bin" HEDDLE_CXX=/none/g++ HEDDLE_NVRTC=/none HEDDLE_CACHE=/dev/null/none)
failed=0
for model in "${models[@]}"; do
  training_arguments "$root/tools/gpu" "$model" 6 "$work/data" "$root/models"
  options=() data=(--data "$root/models")
  while [[ ${#arguments[@]} -gt 0 ]]; do
    if [[ ${arguments[0]} == --data ]]; then data=(--data "${arguments[1]}"); else options+=("${arguments[@]:0:2}"); fi
    arguments=("${arguments[@]:2}")
  done
  # shellcheck disable=SC2046  # a flag or nothing
  if "$build/bin/heddle" package "$root/models/$model.json" $(size_of "$model") "${options[@]}" "${data[@]}" --for train -o "$work/m.heddle" --quiet &&
    "$build/bin/heddle" train "$root/models/$model.json" $(size_of "$model") "${options[@]}" "${data[@]}" --device host --save "$work/model" --quiet &&
    "${hidden[@]}" heddle train "$work/m.heddle" "${data[@]}" --device host --save "$work/package" --quiet &&
    cmp "$work/model" "$work/package"; then
    echo "$model: the same weights, $(stat -c %s "$work/m.heddle") bytes"
  else
    echo "$model: not as it should be"
    failed=$((failed + 1))
  fi
  rm -f "$work/model" "$work/package" "$work/m.heddle"
done
echo "${#models[@]} models, $failed not as they should be"
[[ $failed == 0 ]]
