#!/usr/bin/env bash
# Packs what tools/gpu/run.sh needs on a machine with a GPU that has neither network nor Debian's packages.
# usage: tools/gpu/pack.sh [--trial] [--models A,B] [FOLDER]
#   default: every model of models/, build/gpu; --trial: three small models and few steps, for trying it
#
# The folder holds tools/gpu itself and payload.tar.gz:
#   bin        heddle, heddle-nvrtc, heddle_gpu_check      lib    the libraries that such a machine lacks
#   models     as they are, with the csv files beside them peers  other frameworks' training steps, where ../shared/peers is
#   reference  NAME.kernels: each step's outputs by the interpreter; NAME.losses: a training on the host, one JSON object per line;
#              NAME.compared: how many of its losses another device can be held to (drift.py)
#   settings   what run.sh shall repeat                    version of the sources
#
# The build is build/release, or the folder that HEDDLE_BUILD names, which is then taken as it is.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
mapfile -t models < <(cd "$root/models" && printf '%s\n' *.json | sed 's/[.]json$//')
small='' steps=80 rows=10240  # 64 at a time once, and more
if [[ ${1:-} == --trial ]]; then
  models=(recommender tabular_regression tiny_mlp) small=--small steps=20 rows=640  # rows drawn, read beside the model, made
  shift
fi
if [[ ${1:-} == --models ]]; then IFS=, read -ra models <<<"${2:?--models A,B}"; shift 2; fi
[[ ${1:-} != -* ]] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
for model in "${models[@]}"; do
  [[ -e $root/models/$model.json ]] || { echo "pack.sh: there is no models/$model.json" >&2; exit 2; }
done
folder=$(realpath -m "${1:-$root/build/gpu}") build=${HEDDLE_BUILD:-$root/build/release}

if [[ -z ${HEDDLE_BUILD:-} ]]; then
  mkdir -p "$root/build"
  { cmake -S "$root" --preset release && cmake --build "$build" --target heddle heddle-nvrtc heddle_fake_cuda heddle_gpu_check; } \
    >"$root/build/pack.log" 2>&1 || { tail -20 "$root/build/pack.log" >&2; exit 1; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
payload=$work/payload
mkdir -p "$folder" "$payload"/{bin,lib,models,reference}
cp -r "$root"/tools/gpu/. "$folder"
cp "$build"/bin/{heddle,heddle-nvrtc,heddle_gpu_check} "$payload/bin"
strip "$payload"/bin/*
cp "$root"/models/*.{json,csv} "$payload/models"

# What every Linux has stays behind: glibc, and the compiler's own libraries, which must not be older than the machine's.
ldd "$payload"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc[+][+]|libgcc_s|ld-linux-x86-64)[.]so' |
  while read -r library; do cp -L "$library" "$payload/lib"; done

# shellcheck source=tools/gpu/training.sh
. "$root/tools/gpu/training.sh"
python3 "$root/tools/gpu/make_data.py" "$work/data" "$rows"
# host MODEL STEPS LOG ARGUMENT...: a training on the host
host() {
  local model=$1 arguments=()
  training_arguments "$root/tools/gpu" "$model" "$2" "$work/data"
  # shellcheck disable=SC2086  # $small is a flag or nothing
  "$build/bin/heddle" train "$root/models/$model.json" --device host $small "${arguments[@]}" --log "$3" "${@:4}" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
}
for model in "${models[@]}"; do
  host "$model" "$steps" "$payload/reference/$model.losses"
  host "$model" 1 "$work/first" --save "$work/weights"
  for seed in 1 2; do python3 "$root/tools/gpu/drift.py" nudge "$seed" "$work/weights" "$work/nudged$seed"; done
  for start in weights nudged1 nudged2; do host "$model" "$steps" "$work/$start.losses" --weights "$work/$start"; done
  python3 "$root/tools/gpu/drift.py" steps "$work"/{weights,nudged1,nudged2}.losses >"$payload/reference/$model.compared"
  LD_LIBRARY_PATH=$build/fake_cuda HEDDLE_CUDA_CODE=ptx HEDDLE_FAKE_CUDA_RACES=0 "$build/bin/heddle_gpu_check" \
    "$root/models/$model.json" --small --write "$payload/reference/$model.kernels" >"$work/log" 2>&1 || { tail -3 "$work/log" >&2; exit 1; }
  echo "pack: $model, $(grep -c '"event": "step"' "$payload/reference/$model.losses") losses," \
    "the first $(<"$payload/reference/$model.compared") compared, $(grep -c stored "$work/log") steps' outputs" >&2
done
printf 'models=(%s)\nsmall=%s\nsteps=%s\nrows=%s\n' "${models[*]}" "$small" "$steps" "$rows" >"$payload/settings"
if [[ -d $root/../shared/peers ]]; then
  mkdir -p "$payload/peers"
  cp "$root"/../shared/peers/*.py "$payload/peers"
  chmod u+w "$payload"/peers/*
fi
git -C "$root" describe --always --dirty >"$payload/version" 2>/dev/null || echo unknown >"$payload/version"
tar -C "$payload" -czf "$folder/payload.tar.gz" .
echo "pack: $folder: $(du -sm "$folder" | cut -f1) MB" >&2
