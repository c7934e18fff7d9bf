#!/usr/bin/env bash
# Everything to be learnt from a machine with a GPU, in two calls of five minutes, without a network.
# usage: [OUT=FOLDER] tools/gpu/run.sh [--bundle FOLDER] [first|second|STAGE...]     of tools/gpu/pack.sh; default: build/gpu, first
#
# Stages of the first call, whether it is right, the most valuable first:
#   environment  GPU, driver, compilers, frameworks
#   losses       20 losses of every model against the host's (fewer where rounding alone tears them apart), submitted by 1, 8 and 64 steps,
#                64 once more, and as launches, which must all give the same bits
#   kernels      every step of every model alone against the interpreter's stored outputs
#   runs         a training with validation and test; rows streamed in chunks, which must give the bits of resident ones; code of the driver's PTX
#   sanitizer    compute-sanitizer's four tools over a persistent training and over the kernels of two models
# Of the second, how fast it is:
#   environment  again, and the clocks all along
#   benches      time of a training step, pipelined by 64; waiting after each submission of 64, 8 and 1
#   persistent   the same as launches, and their ratio
#   cublaslt     mnist_mlp with products by cuBLASLt: its losses, and its step beside that of generated launches
#   cudnn        mnist_cnn with convolutions by cuDNN and products by cuBLASLt: the same
#   calibration  bandwidths, launches, a barrier; each kernel's time over its prediction
#   ncu          the durations that ncu measures
#   peers        PyTorch and JAX on the networks of the same names beside ours, at equal precision; the ratio is the peer's time over ours
#
# A row for each result goes to $OUT/results.tsv (stage, name, value, unit, reference, ratio, verdict) as soon as it is known; the
# table comes last. Exit code 1 where a row has FAILED. LIMIT=285: seconds in all; what has no time left is skipped, and says so. Each
# stage has a budget, so that a slow one takes nothing from the others. $OUT holds eight files of at most 16 MB: what failed is packed.
set -uo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
bundle=$here/../../build/gpu
[[ ! -e $here/payload.tar.gz ]] || bundle=$here
if [[ ${1:-} == --bundle ]]; then bundle=${2:?--bundle FOLDER}; shift 2; fi
first=(environment losses kernels runs sanitizer)
second=(environment benches persistent cublaslt cudnn calibration ncu peers)
# Seconds of 285 that a stage may take.
declare -A budget=([environment]=15 [losses]=110 [kernels]=70 [runs]=40 [sanitizer]=40
  [benches]=70 [persistent]=20 [cublaslt]=20 [cudnn]=20 [calibration]=40 [ncu]=20 [peers]=80)
stages=()
for word in "${@:-first}"; do
  case $word in
    first) stages+=("${first[@]}") ;;
    second) stages+=("${second[@]}") ;;
    *) [[ -n ${budget[$word]:-} ]] || { echo "run.sh: unknown stage $word: first, second, ${first[*]} ${second[*]:1}" >&2; exit 2; }
       stages+=("$word") ;;
  esac
done
[[ -e $bundle/payload.tar.gz ]] || { echo "run.sh: $bundle holds no payload.tar.gz: run tools/gpu/pack.sh first" >&2; exit 2; }

out=${OUT:-$bundle/results} limit=${LIMIT:-285} python=${PYTHON:-python3}
stage_end=$limit
work=$(mktemp -d)
clocks=''
trap '[[ -z $clocks ]] || kill "$clocks" 2>/dev/null; rm -rf "$work"' EXIT
# raw: what comes back as it is; failed: what belongs to a row that FAILED, 1 the most telling.
mkdir -p "$out" "$work/cache" "$work/raw" "$work"/failed/{1,2,3}
rm -f "$out"/{results.tsv,log.txt.gz,environment.txt,measurements.jsonl,kernels.tsv,failed.tar.gz,raw.tar.gz,cubins.tar.gz}
results=$out/results.tsv log=$work/log.txt
: >"$log"
printf 'stage\tname\tvalue\tunit\treference\tratio\tverdict\n' >"$results"
tar -C "$work" --no-same-owner -xzf "$bundle/payload.tar.gz" || exit 2
models=() small='' steps=0 rows=0 nvrtc=''
# shellcheck source=/dev/null
. "$work/settings"
# shellcheck source=tools/gpu/training.sh
. "$here/training.sh"
export HEDDLE_CACHE=$work/cache PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 XLA_PYTHON_CLIENT_PREALLOCATE=false TF_CPP_MIN_LOG_LEVEL=2

# row STAGE NAME VALUE UNIT REFERENCE RATIO VERDICT: one write, so that rows of jobs at the same time do not mix.
row() { local IFS=$'\t'; printf '%s\n' "$*" >>"$results"; }
left() {
  local end=$limit
  ((stage_end >= end)) || end=$stage_end
  echo $((end - SECONDS))
}
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
# Rows that a Python helper prints go in as they are; its exit code is 1 where one has FAILED.
rows() {
  local status made=$work/rows.$BASHPID  # here: a command's own redirections are expanded in another process
  "$python" "$here/rows.py" "$@" >"$made" 2>>"$log"
  status=$?
  cat "$made" >>"$results"
  ((status == 0)) || grep -q FAILED "$made" || row "$1" rows.py "" "" "" "" "FAILED: see log.txt"
  return "$status"
}
# failed RANK FILE...: keeps them for failed.tar.gz
failed() {
  local rank=$1; shift
  cp -r "$@" "$work/failed/$rank" 2>/dev/null
}

# NVRTC beside nvcc, or from the frameworks' packages; else what was packed must do.
find_nvrtc() {
  [[ -z ${HEDDLE_NVRTC:-} ]] || return
  local nvcc site packaged
  if [[ -z ${CUDA_HOME:-} ]] && nvcc=$(command -v nvcc); then
    CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    export CUDA_HOME
  fi
  if ! compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib*/libnvrtc.so.13" >/dev/null; then
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)
    packaged=$(compgen -G "$site/nvidia/*/lib/libnvrtc.so.13" | head -1)
    [[ -z $packaged ]] || export HEDDLE_NVRTC=$packaged
  fi
}

# What doctor says decides what can be done here; nvidia-smi may be missing.
gpu=no jobs=$(nproc) has_nvrtc=no
look_around() {
  find_nvrtc
  ours 60 heddle doctor >"$work/doctor" 2>&1
  doctor_status=$?
  device=$(sed -n 's/^ok  cuda:0 *//p' "$work/doctor")
  [[ -z $device || ${LD_LIBRARY_PATH:-} == *fake_cuda* ]] || gpu=yes
  ((jobs <= 16)) || jobs=16  # processes that share the GPU
  [[ $device != *"one process at a time"* ]] || jobs=1
  local there; there=$(sed -n 's/^ok  nvrtc *\([0-9.]*\) .*/\1/p' "$work/doctor")
  [[ -z $there ]] || has_nvrtc=yes
  # The cubins of the same NVRTC, or all that there is.
  if [[ -n $nvrtc && (-z $there || $there == "$nvrtc") ]]; then export HEDDLE_NVRTC_VERSION=$nvrtc; fi
}

environment() {
  { date -u; uname -srm; ldd --version | head -1; nproc; cat "$work/version"
    nvidia-smi; nvidia-smi --query-gpu=name,driver_version,compute_mode,clocks.sm,clocks.max.sm,clocks.mem,power.limit --format=csv
    nvcc --version | tail -2; g++ --version | head -1
    "$python" -m pip list | grep -iE '^(torch|triton|jax|jaxlib|numpy|nvidia-(cudnn|cublas|cuda-nvrtc)[^ ]*) '
    cat "$work/doctor"; } >"$out/environment.txt" 2>&1
  if ((doctor_status == 0)) && [[ -n $device ]]; then
    row environment device "" "" "" "" "ok: $device"
  else
    row environment device "" "" "" "" "$(verdict "$doctor_status" "$work/doctor")"
  fi
  row environment version "" "" "" "" "ok: $(<"$work/version")"
  row environment processes "$jobs" "at a time" "" "" ok
  row environment kernels "" "" "" "" "ok: NVRTC here: $has_nvrtc; cubins packed: $(compgen -G "$work/cache/*.cubin" | wc -l)"
}

# The clocks of every second, as long as this runs.
watch_clocks() {
  command -v nvidia-smi >/dev/null && [[ $gpu == yes ]] || return
  nvidia-smi --query-gpu=timestamp,clocks.sm,clocks.mem,clocks_event_reasons.active,temperature.gpu,power.draw --format=csv,noheader,nounits -l 1 \
    >"$work/raw/clocks.csv" 2>&1 &
  clocks=$!
}

# for_models FUNCTION: with every model, as many at the same time as there are processors. Nothing is timed there.
for_models() {
  local model
  for model in "${models[@]}"; do
    while (($(jobs -rp | grep -cv "^${clocks:-none}$") >= jobs)); do wait -n; done
    "$1" "$model" &
  done
  for job in $(jobs -rp); do [[ $job == "$clocks" ]] || wait "$job"; done
}

# train MODEL LABEL ARGUMENT...: a training of the losses' steps; its log is raw/MODEL.LABEL.jsonl.
train() {
  local name=$1 label=$2 size; shift 2
  size=${small:-$(size_of "$name")}
  # shellcheck disable=SC2086  # $size is a flag or nothing
  ours 120 heddle train "$work/models/$(model_of "$name").json" --device cuda $size "$@" --log "$work/raw/$name.$label.jsonl" \
    >"$work/$name.$label.log" 2>&1
  local status=$?
  cat "$work/$name.$label.log" >>"$log"
  return $status
}

# One model's trainings: so many steps a submission, and as launches where they would be one kernel. The first compiles its kernels.
model_losses() {
  local model=$1 k status repeat form files=() arguments=()
  training_arguments "$here" "$model" "$steps" "$work/data" "$work/models"
  for k in 64 8 1 again launches; do
    repeat=$k form=${HEDDLE_CUDA_STEPS:-persistent}
    [[ $k != again ]] || repeat=64
    [[ $k != launches ]] || repeat=8 form=launches
    HEDDLE_CUDA_STEPS=$form train "$model" "$k" "${arguments[@]}" --repeat "$repeat"
    status=$?
    if ((status)); then
      row losses "$model k=$k" "" "" "" "" "$(verdict "$status" "$work/$model.$k.log")"
      ((status == 99)) || failed 2 "$work/$model.$k.log"
      continue
    fi
    files+=("$k=$work/raw/$model.$k.jsonl")
  done
  ((${#files[@]} == 0)) && return
  rows losses "$model" "$work/reference/$model.losses" "$(<"$work/reference/$model.compared")" "${files[@]}" ||
    failed 2 "$work/raw/$model".*.jsonl
}
make_data() {
  [[ -d $work/data ]] || "$python" "$here/make_data.py" "$work/data" "$rows" 2>>"$log" && return
  row "$1" data "" "" "" "" "FAILED: see log.txt"
  return 1
}
losses() {
  make_data losses || return
  for_models model_losses
}

# check_kernels MODEL COMMAND...: the steps of the model by heddle_gpu_check, which may run under another program
check_kernels() {
  local name=$1 variant=(); shift
  variant_arguments "$name"
  "$@" "$work/models/$(model_of "$name").json" --small "${variant[@]}" --keep "$work/keep.$name" "$work/reference/$name.kernels"
}
model_kernels() {
  local model=$1 status
  if [[ ! -e $work/reference/$model.kernels ]]; then row kernels "$model" "" "" "" "" "skipped: its outputs were not packed"; return; fi
  mkdir -p "$work/keep.$model"
  check_kernels "$model" ours 120 heddle_gpu_check >"$work/$model.kernels" 2>"$work/$model.kernels.log"
  status=$?
  cat "$work/$model.kernels.log" >>"$log"
  sed "s/^/$model\t/" "$work/$model.kernels" >>"$out/kernels.tsv"
  rows kernels "$model" "$work/$model.kernels" || failed 1 "$work/$model.kernels" "$work/keep.$model"
  if ((status == 99)) || { ((status)) && ! grep -qvP '\tok(: .*)?$' "$work/$model.kernels"; }; then
    row kernels "$model" "" "" "" "" "$(verdict "$status" "$work/$model.kernels.log")"
    ((status == 99)) || failed 1 "$work/$model.kernels.log"
  fi
}
kernels() { for_models model_kernels; }

runs() {
  local status name arguments=() model=tiny_mlp
  make_data runs || return
  # Validation after each epoch, and a test.
  for name in "${whole_models[@]}"; do
    [[ -e $work/reference/$name.whole ]] || continue
    whole_arguments "$name" "$work/data"
    train "$name" whole "${arguments[@]}"
    status=$?
    if ((status)); then
      row runs "$name with validation and test" "" "" "" "" "$(verdict "$status" "$work/$name.whole.log")"
    else
      rows runs "$name with validation and test" "$work/reference/$name.whole" "$work/raw/$name.whole.jsonl" || failed 2 "$work/raw/$name.whole.jsonl"
    fi
  done
  # As if 10 KB of the GPU were free: chunks through pinned memory on a stream of their own.
  training_arguments "$here" "$model" "$steps" "$work/data" "$work/models"
  train "$model" resident "${arguments[@]}" && HEDDLE_CUDA_FREE=10000 train "$model" streamed "${arguments[@]}"
  status=$?
  if ((status)); then
    row runs "$model streamed" "" "" "" "" "$(verdict "$status" "$work/$model.streamed.log")"
  elif ! grep -q stream "$work/$model.streamed.log"; then
    row runs "$model streamed" "" "" "" "" "FAILED: nothing was streamed"
  else
    rows losses "$model" "$work/reference/$model.losses" "$(<"$work/reference/$model.compared")" \
      "resident=$work/raw/$model.resident.jsonl" "streamed=$work/raw/$model.streamed.jsonl" || failed 2 "$work/raw/$model".*ed.jsonl
  fi
  # A time limit ends a training of many epochs, with exit code 0.
  local before=$SECONDS
  ours 60 heddle train "$work/models/$model.json" --device cuda "${arguments[@]}" --set train.epochs=1000000 --set train.steps=100000000 \
    --max-time 2s >"$work/limit.log" 2>&1
  status=$?
  if ((status)); then
    row runs "--max-time 2s" "" "" "" "" "$(verdict "$status" "$work/limit.log")"
  else
    row runs "--max-time 2s" $((SECONDS - before)) s 2 "" "ok (with its start)"
  fi
  if [[ $has_nvrtc == no ]]; then row runs ptx "" "" "" "" "skipped: no NVRTC"; return; fi
  HEDDLE_CUDA_CODE=ptx train "$model" ptx "${arguments[@]}"
  status=$?
  if ((status)); then
    row runs "$model from PTX" "" "" "" "" "$(verdict "$status" "$work/$model.ptx.log")"
  else
    rows losses "$model" "$work/reference/$model.losses" "$(<"$work/reference/$model.compared")" "ptx=$work/raw/$model.ptx.jsonl" ||
      failed 2 "$work/raw/$model.ptx.jsonl"
  fi
}

sanitizer() {
  local tool what status arguments=()
  if [[ $gpu == no ]] || ! command -v compute-sanitizer >/dev/null; then
    row sanitizer all "" "" "" "" "skipped: no GPU, or no compute-sanitizer"
    return
  fi
  make_data sanitizer || return
  training_arguments "$here" tiny_mlp 8 "$work/data" "$work/models"
  for tool in memcheck racecheck synccheck initcheck; do
    for what in persistent digits_cnn mlp; do
      local checker=(within 40 env LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" compute-sanitizer --tool "$tool" --error-exitcode 9)
      if [[ $what == persistent ]]; then
        "${checker[@]}" "$work/bin/heddle" train "$work/models/tiny_mlp.json" --device cuda "${arguments[@]}" --repeat 8 >"$work/sanitizer.log" 2>&1
      elif [[ -e $work/reference/$what.kernels ]]; then
        check_kernels "$what" "${checker[@]}" "$work/bin/heddle_gpu_check" >"$work/sanitizer.log" 2>&1
      else
        continue
      fi
      status=$?
      cat "$work/sanitizer.log" >>"$log"
      if ((status)); then
        row sanitizer "$tool $what" "" "" "" "" "$(verdict "$status" "$work/sanitizer.log")"
        ((status == 99)) || { mv "$work/sanitizer.log" "$work/sanitizer.$tool.$what.log"; failed 1 "$work/sanitizer.$tool.$what.log"; }
      else
        row sanitizer "$tool $what" 0 errors "" "" ok
      fi
    done
  done
}

# bench SECONDS MODEL K MEASURED FLAG...: JSON on standard output
bench() {
  local box=$1 name=$2 k=$3 measured=$4 size variant=(); shift 4
  size=${small:-$(size_of "$name")}
  variant_arguments "$name"
  # shellcheck disable=SC2086  # $size is a flag or nothing
  ours "$box" heddle bench "$work/models/$(model_of "$name").json" $size "${variant[@]}" --device cuda --seconds "$measured" --blocks 7 --repeat "$k" \
    --json "$@"
}
# profile SECONDS MODEL: JSON on standard output
profile() {
  local box=$1 name=$2 size variant=()
  size=${small:-$(size_of "$name")}
  variant_arguments "$name"
  # shellcheck disable=SC2086  # $size is a flag or nothing
  ours "$box" heddle profile "$work/models/$(model_of "$name").json" $size "${variant[@]}" --device cuda --seconds 0.05 --rounds 4 --json
}
measured_seconds() { [[ $gpu == yes ]] && echo 0.4 || echo 0.01; }
# bench_row STAGE NAME K MODEL FLAG...: keeps the JSON in measurements.jsonl
bench_row() {
  local stage=$1 name=$2 k=$3 model=$4 status; shift 4
  bench 60 "$model" "$k" "$(measured_seconds)" "$@" >"$work/bench.json" 2>"$work/bench.log"
  status=$?
  cat "$work/bench.log" >>"$log"
  if ((status)); then row "$stage" "$name" "" "" "" "" "$(verdict "$status" "$work/bench.log")"; return; fi
  cat "$work/bench.json" >>"$out/measurements.jsonl"
  rows bench "$stage" "$name" "$work/bench.json" "$results"
}
compile_bench() { bench 60 "$1" 1 0.01 >/dev/null 2>&1; }
benches() {
  local model
  stage_end=$((SECONDS + budget[benches] / 2))
  for_models compile_bench
  stage_end=$((SECONDS + budget[benches]))
  for model in "${models[@]}"; do bench_row benches "$model pipelined k=64" 64 "$model" --pipelined; done
  for k in 64 1 8; do
    for model in "${models[@]}"; do bench_row benches "$model waiting k=$k" "$k" "$model"; done
  done
}

# Models whose steps are one kernel where that is predicted to be shorter; then the same as launches.
persistent() {
  local model
  for model in tiny_mlp tabular_regression mnist_mlp mlp; do
    [[ " ${models[*]} " == *" $model "* ]] || continue
    bench_row persistent "$model as planned" 64 "$model" --pipelined
    HEDDLE_CUDA_STEPS=launches bench_row persistent "$model launches" 64 "$model" --pipelined
  done
}

# NVIDIA's libraries: beside nvcc, or from the frameworks' packages.
find_library() {  # VARIABLE FILE
  [[ -z ${!1:-} ]] || return
  local site packaged
  if ! compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib*/$2" >/dev/null; then
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)
    packaged=$(compgen -G "$site/nvidia/*/lib/$2" | head -1)
    [[ -z $packaged ]] || export "$1=$packaged"
  fi
}
# A model with calls of libraries, beside generated kernels.
with_libraries() {  # STAGE MODEL LIBRARIES
  local stage=$1 model=$2 libraries=$3 status k runs=() arguments=()
  if [[ $has_nvrtc == no ]]; then row "$stage" "$model" "" "" "" "" "skipped: no NVRTC for the kernels beside it"; return; fi
  # For trying it with other models: the first that was packed.
  [[ " ${models[*]} " == *" $model "* ]] || model=${models[0]}
  find_library HEDDLE_CUBLASLT libcublasLt.so.13
  find_library HEDDLE_CUDNN libcudnn.so.9
  make_data "$stage" || return
  training_arguments "$here" "$model" "$steps" "$work/data" "$work/models"
  for k in 64 1; do
    train "$model" "$stage$k" "${arguments[@]}" --libraries "$libraries" --repeat "$k"
    status=$?
    if ((status)); then row "$stage" "$model k=$k" "" "" "" "" "$(verdict "$status" "$work/$model.$stage$k.log")"; return; fi
    if grep -q ' is not used: ' "$work/$model.$stage$k.log"; then
      row "$stage" "$model" "" "" "" "" "skipped: $(grep -m1 -o 'cu[A-Za-z]* is not used.*' "$work/$model.$stage$k.log")"
      return
    fi
    runs+=("$stage$k=$work/raw/$model.$stage$k.jsonl")
  done
  rows losses "$model" "$work/reference/$model.losses" "$(<"$work/reference/$model.compared")" "${runs[@]}" || failed 1 "$work/raw/$model.$stage"*.jsonl
  bench_row "$stage" "$model as planned" 64 "$model" --pipelined
  HEDDLE_CUDA_STEPS=launches bench_row "$stage" "$model generated" 64 "$model" --pipelined
  bench_row "$stage" "$model library" 64 "$model" --pipelined --libraries "$libraries"
}
cublaslt() { with_libraries cublaslt mnist_mlp cublaslt; }
cudnn() { with_libraries cudnn mnist_cnn cublaslt,cudnn; }

calibration() {
  local model status program=$work/bin/calibrate
  if [[ $gpu == no ]]; then
    row calibration machine "" "" "" "" "skipped: no GPU"
  elif [[ -e $program ]] || within 60 nvcc -O3 -arch=native -o "$program" "$here/calibrate.cu" >"$work/calibrate.log" 2>&1; then
    within 60 "$program" >"$work/calibrate.tsv" 2>>"$work/calibrate.log"
    status=$?
    cat "$work/calibrate.log" >>"$log"
    sed 's/^/calibration\t/' "$work/calibrate.tsv" >>"$results"
    ((status == 0)) || row calibration machine "" "" "" "" "$(verdict "$status" "$work/calibrate.log")"
  else
    row calibration machine "" "" "" "" "skipped: it was not packed, and there is no nvcc"
  fi
  for model in "${models[@]}"; do
    profile 60 "$model" >"$work/profile.json" 2>"$work/profile.log"
    status=$?
    cat "$work/profile.log" >>"$log"
    if ((status)); then row calibration "$model" "" "" "" "" "$(verdict "$status" "$work/profile.log")"; continue; fi
    cat "$work/profile.json" >>"$out/measurements.jsonl"
    rows calibration "$model" "$work/profile.json"
  done
}

ncu() {
  local model status program arguments=()
  if [[ $gpu == no ]] || ! program=$(type -P ncu); then row ncu all "" "" "" "" "skipped: no GPU, or no ncu"; return; fi
  make_data ncu || return
  for model in mnist_cnn mnist_mlp; do
    [[ -e $work/reference/$model.losses ]] || continue
    training_arguments "$here" "$model" 4 "$work/data" "$work/models"
    within 40 env LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" HEDDLE_CUDA_STEPS=launches "$program" --clock-control none --csv \
      --page raw --metrics gpu__time_duration.sum --launch-count 60 "$work/bin/heddle" train "$work/models/$model.json" --device cuda "${arguments[@]}" \
      --repeat 1 >"$work/raw/$model.ncu.csv" 2>"$work/ncu.log"
    status=$?
    cat "$work/ncu.log" >>"$log"
    if ((status)); then row ncu "$model" "" "" "" "" "$(verdict "$status" "$work/ncu.log")"; continue; fi
    rows ncu "$model" "$work/raw/$model.ncu.csv"
  done
}

# peer FRAMEWORK NETWORK MODE yes|no: with products of tf32, or without
peer() {
  local framework=$1 network=$2 mode=$3 tf32=$4 status ours_name
  ours_name="$network$([[ $tf32 == no ]] || echo @tf32) pipelined k=64"
  within 60 "$python" "$peers_folder/${framework}_step.py" "$network" --mode "$mode" --device cuda --tf32 "$tf32" --blocks 5 --seconds 0.3 \
    >"$work/peer.json" 2>"$work/peer.log"
  status=$?
  cat "$work/peer.log" >>"$log"
  if ((status)); then row peers "$network $framework $mode tf32=$tf32" "" "" "" "" "$(verdict "$status" "$work/peer.log")"; return; fi
  cat "$work/peer.json" >>"$out/measurements.jsonl"
  rows peers "$network $framework $mode tf32=$tf32" "$ours_name" "$work/peer.json" "$results"
}
peers() {
  local network tf32 run modes
  peers_folder=$work/peers
  [[ -d $peers_folder ]] || peers_folder=$here/../../../shared/peers
  if [[ $gpu == no ]]; then row peers all "" "" "" "" "skipped: no GPU"; return; fi
  if [[ ! -d $peers_folder ]]; then row peers all "" "" "" "" "skipped: no ../shared/peers when it was packed"; return; fi
  # The best of each framework first. Ours beside them, under the same clocks.
  for tf32 in no yes; do
    for network in mnist_mlp mnist_cnn; do
      bench_row peers "$network$([[ $tf32 == no ]] || echo @tf32) pipelined k=64" 64 "$network$([[ $tf32 == no ]] || echo @tf32)" --pipelined
      modes=(torch:graph_step jax:scan torch:graph_ring)
      [[ $tf32 == yes ]] || modes+=(jax:jit)
      for run in "${modes[@]}"; do peer "${run%:*}" "$network" "${run#*:}" "$tf32"; done
    done
  done
  for network in mnist_mlp mnist_cnn; do peer torch "$network" max_autotune no; done
}

# What comes back: eight files of at most 16 MB.
keep_results() {
  [[ -z $clocks ]] || { kill "$clocks"; wait "$clocks"; clocks=''; } 2>/dev/null
  [[ ! -s $work/raw/clocks.csv ]] || rows clocks "$work/raw/clocks.csv"
  tail -c 8000000 "$log" | gzip >"$out/log.txt.gz"
  "$python" "$here/keep.py" "$out/failed.tar.gz" "$work/failed"
  "$python" "$here/keep.py" "$out/raw.tar.gz" "$work/raw"
  mkdir -p "$work/cubins"
  find "$work/cache" -type f \( -name '*.cubin' -o -name '*.log' \) -exec cp {} "$work/cubins" \;
  "$python" "$here/keep.py" "$out/cubins.tar.gz" "$work/cubins"
  find "$out" -maxdepth 1 -type f -size +15M -exec truncate -s 15M {} \;
}

main() {
  look_around
  watch_clocks
  for stage in "${stages[@]}"; do
    stage_end=$limit
    if (($(left) < 5)); then row "$stage" all "" "" "" "" "skipped: no time left"; continue; fi
    before=$SECONDS
    stage_end=$((SECONDS + ${budget[$stage]}))
    "$stage"
    row "$stage" seconds $((SECONDS - before)) s "${budget[$stage]}" "" "ok (the reference is its budget)"
  done
  keep_results
  "$python" "$here/rows.py" table "$results"
}
main
