#!/usr/bin/env bash
# Everything to be learnt from a machine with a GPU, in one call of less than ten minutes, without a network.
# usage: [OUT=FOLDER] tools/gpu/run.sh [--bundle FOLDER] [STAGE...]     of tools/gpu/pack.sh; default: build/gpu
#
# Stages, the most valuable first (default: all):
#   environment  GPU, driver, compilers, frameworks
#   losses       20 losses of every model against the host's (fewer where rounding alone tears them apart), submitted by 1, 8 and 64 steps, which must give the same bits
#   kernels      every step of every model alone against the interpreter's stored outputs
#   benches      time of a training step, by 1, 8 and 64
#   peers        PyTorch and JAX on the networks of the same names, products in f32 too; the ratio is the peer's time over ours
#   calibration  bandwidths, launches, a barrier; each kernel's time over its prediction
#   sanitizer    compute-sanitizer's four tools
#
# A row for each result goes to $OUT/results.tsv (stage, name, value, unit, reference, ratio, verdict) as soon as it is known; the
# table comes last. Exit code 1 where a row has FAILED. LIMIT=540: seconds in all; what has no time left is skipped, and says so.
set -uo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
bundle=$here/../../build/gpu
[[ ! -e $here/payload.tar.gz ]] || bundle=$here
if [[ ${1:-} == --bundle ]]; then bundle=${2:?--bundle FOLDER}; shift 2; fi
all=(environment losses kernels benches peers calibration sanitizer)
stages=("$@")
((${#stages[@]})) || stages=("${all[@]}")
for stage in "${stages[@]}"; do
  [[ " ${all[*]} " == *" $stage "* ]] || { echo "run.sh: unknown stage $stage: ${all[*]}" >&2; exit 2; }
done
[[ -e $bundle/payload.tar.gz ]] || { echo "run.sh: $bundle holds no payload.tar.gz: run tools/gpu/pack.sh first" >&2; exit 2; }

out=${OUT:-$bundle/results} limit=${LIMIT:-540} python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/cache"
rm -f "$out"/{results.tsv,log.txt,environment.txt,bench.jsonl,peers.jsonl,kernels.tsv}
results=$out/results.tsv log=$out/log.txt
: >"$log"
printf 'stage\tname\tvalue\tunit\treference\tratio\tverdict\n' >"$results"
tar -C "$work" -xzf "$bundle/payload.tar.gz" || exit 2
models=() small='' steps=0 rows=0
# shellcheck source=/dev/null
. "$work/settings"
# shellcheck source=tools/gpu/training.sh
. "$here/training.sh"
export HEDDLE_CACHE=$work/cache PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 XLA_PYTHON_CLIENT_PREALLOCATE=false TF_CPP_MIN_LOG_LEVEL=2

gpu=no
[[ ${LD_LIBRARY_PATH:-} == *fake_cuda* ]] || ! nvidia-smi -L >/dev/null 2>&1 || gpu=yes
# NVRTC beside nvcc, or from the frameworks' packages.
if [[ -z ${HEDDLE_NVRTC:-} ]]; then
  if [[ -z ${CUDA_HOME:-} ]] && nvcc=$(command -v nvcc); then
    CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    export CUDA_HOME
  fi
  if ! compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib*/libnvrtc.so.13" >/dev/null; then
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)
    packaged=$(compgen -G "$site/nvidia/*/lib/libnvrtc.so.13" | head -1)
    [[ -z $packaged ]] || export HEDDLE_NVRTC=$packaged
  fi
fi

# row STAGE NAME VALUE UNIT REFERENCE RATIO VERDICT: one write, so that rows of jobs at the same time do not mix.
row() { local IFS=$'\t'; printf '%s\n' "$*" >>"$results"; }
left() { echo $((limit - SECONDS)); }
# within SECONDS COMMAND...: no longer than what is left; 124 or 137: it took too long. Its output is the caller's.
within() {
  local box=$1; shift
  local rest; rest=$(left)
  ((box < rest)) || box=$rest
  ((box >= 5)) || return 99
  timeout -k 5 "$box" "$@"
}
# ours SECONDS PROGRAM...: one of the bundle's programs, with its libraries.
ours() {
  local box=$1 program=$2; shift 2
  within "$box" env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$work/lib" "$work/bin/$program" "$@"
}
# verdict STATUS LOG: why a command did not succeed, in one line.
verdict() {
  local why
  case $1 in
    99) echo "skipped: no time left" ;;
    124 | 137) echo "FAILED: took too long" ;;
    *) why=$(grep -hE 'error|Error|FAILED' "$2" 2>/dev/null | tail -1)
       why=${why:-$(tail -n 1 "$2" 2>/dev/null)}
       printf 'FAILED: exit %s: %s\n' "$1" "$(tr '\t\n' '  ' <<<"$why" | cut -c1-160)" ;;
  esac
}
# Rows that a Python helper prints go in as they are.
rows() { "$python" "$here/rows.py" "$@" >>"$results" 2>>"$log" || row "$1" rows.py "" "" "" "" "FAILED: see log.txt"; }

environment() {
  { date -u; uname -srm; ldd --version | head -1; nproc; cat "$work/version"
    nvidia-smi; nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit --format=csv
    nvcc --version | tail -2; g++ --version | head -1
    "$python" -m pip list | grep -iE '^(torch|triton|jax|jaxlib|numpy|nvidia-(cudnn|cublas|cuda-nvrtc)[^ ]*) '; } >"$out/environment.txt" 2>&1
  ours 60 heddle doctor >"$work/doctor" 2>&1
  local status=$?
  cat "$work/doctor" >>"$out/environment.txt"
  local device; device=$(sed -n 's/^ok  cuda:0 *//p' "$work/doctor")
  if ((status == 0)) && [[ -n $device ]]; then
    row environment device "" "" "" "" "ok: $device"
  else
    row environment device "" "" "" "" "$(verdict "$status" "$work/doctor")"
  fi
  row environment version "" "" "" "" "ok: $(<"$work/version")"
  row environment gpu "" "" "" "" "ok: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "no nvidia-smi")"
}

# for_models FUNCTION: with every model, as many at the same time as there are processors. Nothing is timed there.
for_models() {
  local model
  for model in "${models[@]}"; do
    while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
    "$1" "$model" &
  done
  wait
}

# One model's trainings: so many steps a submission, and as launches where they would be one kernel. The first compiles its kernels.
model_losses() {
  local model=$1 k status repeat form files=() arguments=()
  training_arguments "$here" "$model" "$steps" "$work/data"
  for k in 1 8 64 launches; do
    repeat=$k form=${HEDDLE_CUDA_STEPS:-persistent}
    [[ $k != launches ]] || repeat=8 form=launches
    # shellcheck disable=SC2086  # $small is a flag or nothing
    HEDDLE_CUDA_STEPS=$form ours 150 heddle train "$work/models/$model.json" --device cuda $small "${arguments[@]}" \
      --repeat "$repeat" --log "$work/$model.$k" >"$work/$model.$k.log" 2>&1
    status=$?
    cat "$work/$model.$k.log" >>"$log"
    if ((status)); then row losses "$model k=$k" "" "" "" "" "$(verdict "$status" "$work/$model.$k.log")"; continue; fi
    files+=("$k=$work/$model.$k")
  done
  ((${#files[@]} == 0)) || rows losses "$model" "$work/reference/$model.losses" "$(<"$work/reference/$model.compared")" "${files[@]}"
}
losses() {
  "$python" "$here/make_data.py" "$work/data" "$rows" 2>>"$log" || { row losses data "" "" "" "" "FAILED: see log.txt"; return; }
  for_models model_losses
}

model_kernels() {
  local model=$1 status
  ours 150 heddle_gpu_check "$work/models/$model.json" --small "$work/reference/$model.kernels" >"$work/$model.kernels" 2>"$work/$model.kernels.log"
  status=$?
  cat "$work/$model.kernels.log" >>"$log"
  sed "s/^/$model\t/" "$work/$model.kernels" >>"$out/kernels.tsv"
  rows kernels "$model" "$work/$model.kernels"
  if ((status == 99)) || { ((status)) && ! grep -qvP '\tok(: .*)?$' "$work/$model.kernels"; }; then
    row kernels "$model" "" "" "" "" "$(verdict "$status" "$work/$model.kernels.log")"
  fi
}
kernels() { for_models model_kernels; }

# bench SECONDS MODEL K MEASURED FLAG...: JSON on standard output
bench() {
  local box=$1 model=$2 k=$3 measured=$4; shift 4
  # shellcheck disable=SC2086  # $small is a flag or nothing
  ours "$box" heddle bench "$work/models/$model.json" $small --device cuda --seconds "$measured" --blocks 7 --repeat "$k" --json "$@"
}
compile_bench() { bench 150 "$1" 1 0.01 >/dev/null 2>&1; }
benches() {
  local model k status
  for_models compile_bench
  for k in 64 8 1; do
    for model in "${models[@]}"; do
      bench 60 "$model" "$k" "$([[ $gpu == yes ]] && echo 1 || echo 0.01)" >"$work/bench.json" 2>"$work/bench.log"
      status=$?
      cat "$work/bench.log" >>"$log"
      if ((status)); then row benches "$model k=$k" "" "" "" "" "$(verdict "$status" "$work/bench.log")"; continue; fi
      cat "$work/bench.json" >>"$out/bench.jsonl"
      rows benches "$model k=$k" "$work/bench.json"
    done
  done
}

peers() {
  local folder=$work/peers framework network mode status
  [[ -d $folder ]] || folder=$here/../../../shared/peers
  if [[ $gpu == no ]]; then row peers all "" "" "" "" "skipped: no GPU"; return; fi
  if [[ ! -d $folder ]]; then row peers all "" "" "" "" "skipped: no ../shared/peers when it was packed"; return; fi
  for run in torch:mnist_mlp:graph_step jax:mnist_mlp:scan torch:mnist_cnn:graph_step_nhwc jax:mnist_cnn:scan torch:mnist_mlp:graph_ring \
      torch:mnist_cnn:graph_ring; do
    IFS=: read -r framework network mode <<<"$run"
    within 60 "$python" "$folder/${framework}_step.py" "$network" --mode "$mode" --device cuda --tf32 no --blocks 5 --seconds 0.5 \
      >"$work/peer.json" 2>"$work/peer.log"
    status=$?
    cat "$work/peer.log" >>"$log"
    if ((status)); then row peers "$network $framework $mode" "" "" "" "" "$(verdict "$status" "$work/peer.log")"; continue; fi
    cat "$work/peer.json" >>"$out/peers.jsonl"
    rows peers "$network $framework $mode" "$work/peer.json" "$results"
  done
}

calibration() {
  local model status
  if [[ $gpu == no ]] || ! command -v nvcc >/dev/null; then
    row calibration machine "" "" "" "" "skipped: no GPU, or no nvcc"
  elif within 60 nvcc -O3 -arch=native -o "$work/calibrate" "$here/calibrate.cu" >"$work/calibrate.log" 2>&1 &&
    within 60 "$work/calibrate" >"$work/calibrate.tsv" 2>>"$work/calibrate.log"; then
    sed 's/^/calibration\t/' "$work/calibrate.tsv" >>"$results"
  else
    status=$?
    cat "$work/calibrate.log" >>"$log"
    row calibration machine "" "" "" "" "$(verdict "$status" "$work/calibrate.log")"
  fi
  for model in "${models[@]}"; do
    bench 60 "$model" 64 0.05 --profile >"$work/profile.json" 2>"$work/profile.log"
    status=$?
    cat "$work/profile.log" >>"$log"
    if ((status)); then row calibration "$model" "" "" "" "" "$(verdict "$status" "$work/profile.log")"; continue; fi
    rows calibration "$model" "$work/profile.json"
  done
}

sanitizer() {
  local tool model status
  if [[ $gpu == no ]] || ! command -v compute-sanitizer >/dev/null; then
    row sanitizer all "" "" "" "" "skipped: no GPU, or no compute-sanitizer"
    return
  fi
  for tool in memcheck racecheck synccheck initcheck; do
    for model in digits_cnn mlp; do
      [[ -e $work/reference/$model.kernels ]] || continue
      within 60 env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$work/lib" compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$work/bin/heddle_gpu_check" "$work/models/$model.json" --small "$work/reference/$model.kernels" >"$work/sanitizer.log" 2>&1
      status=$?
      cat "$work/sanitizer.log" >>"$log"
      if ((status)); then
        row sanitizer "$tool $model" "" "" "" "" "$(verdict "$status" "$work/sanitizer.log")"
      else
        row sanitizer "$tool $model" 0 errors "" "" ok
      fi
    done
  done
}

main() {
  for stage in "${all[@]}"; do
    [[ " ${stages[*]} " == *" $stage "* ]] || continue
    if (($(left) < 5)); then row "$stage" all "" "" "" "" "skipped: no time left"; continue; fi
    before=$SECONDS
    "$stage"
    row "$stage" seconds $((SECONDS - before)) s "" "" ok
  done
  "$python" "$here/rows.py" table "$results"
}
main
