#!/usr/bin/env bash
# Packs what tools/gpu/run.sh needs on a machine with a GPU that has neither network nor Debian's packages.
# usage: tools/gpu/pack.sh [--trial] [--models A,B] [--no-cubins] [FOLDER]
#   default: every model of models/, build/gpu; --trial: three small models and few steps, for trying it
#
# The folder holds tools/gpu itself and payload.tar.gz:
#   bin        heddle, heddle-nvrtc, heddle_gpu_check, calibrate (where there is nvcc)      lib    the libraries that such a machine lacks
#   models     as they are, with the csv files beside them peers  other frameworks' training steps, where ../shared/peers is
#   cache      the kernels' machine code, for a machine without NVRTC or with the same one
#   reference  NAME.kernels: each step's outputs by the interpreter; NAME.losses: a training on the host, one JSON object per line;
#              NAME.compared: how many of its losses another device can be held to (drift.py); NAME.whole: one with validation and test
#   settings   what run.sh shall repeat                    version of the sources
# It may take 40 MB, with the sources 60: that is what a machine is sent. What has no room is left out, and said so.
#
# The build is build/release, or the folder that HEDDLE_BUILD names, which is then taken as it is.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
# shellcheck source=tools/gpu/training.sh
. "$root/tools/gpu/training.sh"
mapfile -t others < <(cd "$root/models" && printf '%s\n' *.json | sed 's/[.]json$//')
models=("${first_models[@]}") small='' steps=80 rows=10240 cubins=yes  # 64 at a time once, and more
for model in "${others[@]}"; do [[ " ${models[*]} " == *" $model "* ]] || models+=("$model"); done
while [[ ${1:-} == -* ]]; do
  case $1 in
    --trial) models=(recommender tabular_regression tiny_mlp) small=--small steps=20 rows=640 ;;  # rows drawn, read beside the model, made
    --models) IFS=, read -ra models <<<"${2:?--models A,B}"; shift ;;
    --no-cubins) cubins=no ;;
    *) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
for model in "${models[@]}"; do
  [[ -e $root/models/$(model_of "$model").json ]] || { echo "pack.sh: there is no models/$(model_of "$model").json" >&2; exit 2; }
done
folder=$(realpath -m "${1:-$root/build/gpu}") build=${HEDDLE_BUILD:-$root/build/release}

if [[ -z ${HEDDLE_BUILD:-} ]]; then
  mkdir -p "$root/build"
  { cmake -S "$root" --preset release && cmake --build "$build" --target heddle heddle-nvrtc heddle_fake_cuda heddle_fake_cublaslt heddle_fake_cudnn heddle_gpu_check; } \
    >"$root/build/pack.log" 2>&1 || { tail -20 "$root/build/pack.log" >&2; exit 1; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
payload=$work/payload
mkdir -p "$folder" "$payload"/{bin,lib,models,reference,cache}
cp -r "$root"/tools/gpu/. "$folder"
cp "$build"/bin/{heddle,heddle-nvrtc,heddle_gpu_check} "$payload/bin"
strip "$payload"/bin/*
cp "$root"/models/*.{json,csv} "$payload/models"
if command -v nvcc >/dev/null; then
  nvcc -O3 -arch=sm_90 -o "$payload/bin/calibrate" "$root/tools/gpu/calibrate.cu" >"$work/log" 2>&1 ||
    { echo "pack: calibrate is left out: $(tail -1 "$work/log")" >&2; rm -f "$payload/bin/calibrate"; }
fi

# What every Linux has stays behind: glibc, and the compiler's own libraries, which must not be older than the machine's.
ldd "$payload"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc[+][+]|libgcc_s|ld-linux-x86-64)[.]so' |
  while read -r library; do cp -L "$library" "$payload/lib"; done

nvrtc=$("$build/bin/heddle" doctor | sed -n 's/^ok  nvrtc *\([0-9.]*\) .*/\1/p')
[[ -n $nvrtc ]] || cubins=no
python3 "$root/tools/gpu/make_data.py" "$work/data" "$rows"
# train MODEL LOG ARGUMENT...: a training on the device that they name
train() {
  local model=$1 size; shift
  size=${small:-$(size_of "$model")}
  # shellcheck disable=SC2086  # $size is a flag or nothing
  "$build/bin/heddle" train "$root/models/$(model_of "$model").json" $size --log "$@" >"$work/log" 2>&1
}
# host MODEL STEPS LOG ARGUMENT...: a training of the losses' steps on the host
host() {
  local model=$1 arguments=()
  training_arguments "$root/tools/gpu" "$model" "$2" "$work/data" "$root/models"
  train "$model" "$3" --device host "${arguments[@]}" "${@:4}" || { cat "$work/log" >&2; exit 1; }
}
# fake COMMAND...: on the fake driver
fake() { env LD_LIBRARY_PATH="$build/fake_cuda" HEDDLE_FAKE_CUDA_RACES=0 "$@"; }
# The fake driver loads no machine code: what is asked of it ends there, with the kernels compiled and in the cache.
compile_for_gpu() {
  [[ $cubins == yes ]] || return 0
  local model=$1 arguments=() variant=() compile=(env HEDDLE_CACHE="$payload/cache" HEDDLE_NVRTC_VERSION="$nvrtc" HEDDLE_CUDA_CODE=cubin)
  training_arguments "$root/tools/gpu" "$model" "$steps" "$work/data" "$root/models"
  variant_arguments "$model"
  # shellcheck disable=SC2046  # a flag or nothing
  fake "${compile[@]}" "$build/bin/heddle" train "$root/models/$(model_of "$model").json" ${small:-$(size_of "$model")} --device cuda \
    "${arguments[@]}" >"$work/log" 2>&1 || true
  fake "${compile[@]}" "$build/bin/heddle_gpu_check" "$root/models/$(model_of "$model").json" --small "${variant[@]}" --write /dev/null \
    >"$work/log" 2>&1 || true
}
for model in "${models[@]}"; do
  variant_arguments "$model"
  host "$model" "$steps" "$payload/reference/$model.losses"
  host "$model" 1 "$work/first" --save "$work/weights"
  for seed in 1 2; do python3 "$root/tools/gpu/drift.py" nudge "$seed" "$work/weights" "$work/nudged$seed"; done
  for start in weights nudged1 nudged2; do host "$model" "$steps" "$work/$start.losses" --weights "$work/$start"; done
  python3 "$root/tools/gpu/drift.py" steps "$work"/{weights,nudged1,nudged2}.losses >"$payload/reference/$model.compared"
  fake HEDDLE_CUDA_CODE=ptx "$build/bin/heddle_gpu_check" "$root/models/$(model_of "$model").json" --small "${variant[@]}" \
    --write "$payload/reference/$model.kernels" >"$work/log" 2>&1 || { tail -3 "$work/log" >&2; exit 1; }
  outputs=$(grep -c stored "$work/log")
  compile_for_gpu "$model"
  echo "pack: $model, $(grep -c '"event": "step"' "$payload/reference/$model.losses") losses," \
    "the first $(<"$payload/reference/$model.compared") compared, $outputs steps' outputs" >&2
done
for model in "${whole_models[@]}"; do
  [[ " ${models[*]} " == *" $model "* ]] || continue
  whole_arguments "$model" "$work/data"
  train "$model" "$payload/reference/$model.whole" --device host "${arguments[@]}" || { cat "$work/log" >&2; exit 1; }
done
if [[ -d $root/../shared/peers ]]; then
  mkdir -p "$payload/peers"
  cp "$root"/../shared/peers/*.py "$payload/peers"
  chmod u+w "$payload"/peers/*
fi
git -C "$root" describe --always --dirty >"$payload/version" 2>/dev/null || echo unknown >"$payload/version"

# What a machine is sent: the folder, and with it the files that git has. What has no room is left out: outputs of the models that come
# last, then the cubins.
packed() { tar -C "$payload" -cz "$@" | wc -c; }
tree=$(cd "$root" && { git ls-files -z 2>/dev/null | xargs -0 -r du -cb 2>/dev/null | awk '/total$/ {sum += $1} END {print sum + 0}'; })
most=$((${MOST_MB:-40} * 1000000)) beside=200000  # the scripts, and what archives of parts save less
((most <= 60000000 - tree)) || most=$((60000000 - tree))
room=$((most - beside - $(packed --exclude='*.kernels' --exclude=./cache .)))
((room > 0)) || { echo "pack.sh: more than $((most / 1000000)) MB without any output: $(du -sm "$payload"/* | sort -rn | tr '\t\n' '  ')" >&2; exit 1; }
for model in "${models[@]}"; do
  bytes=$(packed "reference/$model.kernels")
  if ((bytes <= room)); then room=$((room - bytes)); continue; fi
  rm "$payload/reference/$model.kernels"
  echo "pack: no room for the outputs of $model, $((bytes / 1000)) KB" >&2
done
bytes=$(packed cache)
if ((bytes > room)); then
  rm -r "$payload/cache"
  nvrtc=''
  echo "pack: no room for the cubins, $((bytes / 1000)) KB" >&2
fi
printf 'models=(%s)\nsmall=%s\nsteps=%s\nrows=%s\nnvrtc=%s\n' "${models[*]}" "$small" "$steps" "$rows" "$([[ $cubins == no ]] || echo "$nvrtc")" \
  >"$payload/settings"
tar -C "$payload" -czf "$folder/payload.tar.gz" .

size=$(du -sb "$folder" | cut -f1)
echo "pack: $folder: $((size / 1000000)) MB, with the sources $(((size + tree) / 1000000)) MB" >&2
