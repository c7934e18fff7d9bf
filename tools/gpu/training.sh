# Sourced by pack.sh and run.sh, so that host and GPU train alike.
# training_arguments FOLDER MODEL STEPS DATA: sets `arguments` to those of a training of so many steps, however many epochs these take.
# Its rows are the model's own, drawn or read from a csv file beside it, unless FOLDER/data/MODEL.json says which of DATA's to take.
# Nothing is evaluated: a loss of each step is what is compared.
# shellcheck shell=bash
training_arguments() {
  local folder=$1 model=$2 steps=$3 data=$4
  if [[ -e $folder/data/$model.json ]]; then
    arguments=(--data "$data" --set data="$(<"$folder/data/$model.json")")
  else
    arguments=(--set data.validation=null --set data.test=null)
  fi
  arguments+=(--set train.epochs="$steps" --set train.steps="$steps")
}
