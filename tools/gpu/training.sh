# Sourced by pack.sh and run.sh, so that host and GPU train alike.
#
# A model's name may carry a variant: mnist_mlp@tf32 is mnist_mlp with products of tf32. model_of and variant_arguments take it apart.
# shellcheck shell=bash disable=SC2034  # whoever sources it uses them

# What a host takes minutes for at its own size, or what it cannot hold: packed and compared with --small.
small_models=(bert_base gpt2_124m llama_small resnet20 speech_digits t5_small unet vit_small)
# The models whose text, or whose use of the GPU, tells most; then all others.
first_models=(tiny_mlp mnist_mlp mnist_cnn digits_cnn mlp mnist_mlp@tf32 mnist_mlp@bf16 mnist_cnn@tf32 mnist_cnn@bf16 lstm_names char_gpt resnet20
  gpt2_124m llama_small)

model_of() { echo "${1%@*}"; }
# size_of MODEL: "--small" or nothing
size_of() { [[ " ${small_models[*]} " != *" $(model_of "$1") "* ]] || echo --small; }

# variant_arguments MODEL: sets `variant` to the arguments that its variant stands for.
variant_arguments() {
  variant=()
  [[ $1 != *@* ]] || variant=(--set "train.precision={\"compute\": \"${1#*@}\"}")
}

# whole_arguments MODEL DATA: sets `arguments` to those of a short training with validation and test, of one of whole_models.
whole_models=(tiny_mlp digits_cnn)
whole_arguments() {
  local rows='{"op": "idx", "x": "x", "target": "targets"}'
  case $1 in
    tiny_mlp) arguments=(--data "$2" --set data="{\"train\": $rows, \"validation\": {\"fraction\": 0.1}, \"test\": $rows}") ;;
    digits_cnn) arguments=(--set data.train.rows=1280 --set data.test.rows=256) ;;
  esac
  arguments+=(--set train.epochs=2)
}

# training_arguments FOLDER MODEL STEPS DATA MODELS: sets `arguments` to those of a training of so many steps, however many epochs these take.
# Its rows are the model's own, drawn or read from a file beside it in MODELS, unless FOLDER/data/MODEL.json says which of DATA's to take.
# Nothing is evaluated: a loss of each step is what is compared. A warm-up is shortened to end within the steps.
training_arguments() {
  local folder=$1 name=$2 steps=$3 data=$4 models=$5 model
  model=$(model_of "$name")
  if [[ -e $folder/data/$model.json ]]; then
    arguments=(--data "$data" --set data="$(<"$folder/data/$model.json")")
  else
    arguments=(--set data.validation=null --set data.test=null)
  fi
  arguments+=(--set train.epochs="$steps" --set train.steps="$steps")
  ! grep -q '"warmup"' "$models/$model.json" || arguments+=(--set train.optimizer.lr.warmup=4)
  variant_arguments "$name"
  arguments+=("${variant[@]}")
}
