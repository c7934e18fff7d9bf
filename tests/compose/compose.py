"""Parts of trainings combined: python3 compose.py HEDDLE FOLLOW FOLDER FAMILY [FIRST COUNT | pairs]

The models of a family, `settings` (pictures and words) or `sequences`, hold every pair of two settings' values (settings.py, sequences.py;
pairs.py) at least once. Each is trained for some ten steps:

- step by step beside the evaluator in double precision, and with its rows streamed (FOLLOW is heddle_follow_training);
- with one and with two threads, one step a submission and eight, twice: the same weights, states, checkpoints and losses, bit for bit; and
  the same weights where no checkpoint is written;
- from a checkpoint in the middle of an epoch on: the same again;
- and its saved weights, loaded, have the metrics that the training ended with.

FIRST COUNT: only these models. `pairs`: only whether every pair is there. What a model is, is in FOLDER/NUMBER/model.json.
"""
import importlib
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "newcomer"))
import pairs  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import safetensors_file  # noqa: E402

SEED = 8
HEDDLE, FOLLOW, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
settings = importlib.import_module(sys.argv[4])
FAULTS = []


# --- what a run leaves ---

def run(folder, *arguments):
    done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, timeout=300, cwd=folder)
    if done.returncode != 0:
        raise AssertionError("heddle %s ends with %d:\n%s" % (" ".join(arguments), done.returncode, done.stderr))
    return json.loads(done.stdout)


def tensors(path):
    """{name: bytes} of a safetensors file, without its checksum."""
    _, found = safetensors_file.read(path)
    return {name: t.data for name, t in found.items() if name != safetensors_file.CHECKSUM}


def log_of(folder):
    """The events, without what takes its time or names a place."""
    out = []
    for line in (folder / "log.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] in ("step", "epoch"):
            out.append({k: v for k, v in event.items() if k != "at"})
    return out


def checkpoints(folder):
    return {file.name: tensors(file) for file in sorted(folder.glob("checkpoint-*.safetensors"))}


def left(folder):
    return {"weights": (folder / "last.safetensors").read_bytes(), "losses and metrics": json.dumps(log_of(folder)), "states": checkpoints(folder)}


def require_same(what, wanted, got):
    for part in wanted:
        if wanted[part] == got[part]:
            continue
        where = ""
        if part == "states":
            where = " (%s)" % ", ".join(f"{n}: {t}" for n in wanted[part] for t in wanted[part][n]
                                        if wanted[part][n][t] != got[part].get(n, {}).get(t))[:300]
        raise AssertionError("%s: other %s%s" % (what, part, where))


def step_of(file):
    return int(file.name.split("-")[1].split(".")[0])


def check_bits(folder):
    """Trains in several ways, and returns what the first one printed."""
    ways = {"one": ("--threads", "1", "--repeat", "1"), "eight": ("--threads", "2", "--repeat", "8"), "again": ("--threads", "2", "--repeat", "1")}
    printed = {name: run(folder, "train", "model.json", "--run", name, "--json", *how) for name, how in ways.items()}
    wanted = left(folder / "one")
    run(folder, "train", "model.json", "--save", "unstopped.safetensors", "--json", "--threads", "2")
    if tensors(folder / "unstopped.safetensors") != tensors(folder / "one" / "last.safetensors"):
        raise AssertionError("without a checkpoint: other weights")
    for name in ("eight", "again"):
        require_same("with " + " ".join(ways[name]), wanted, left(folder / name))
        if printed[name]["metrics"] != printed["one"]["metrics"]:
            raise AssertionError("other metrics with " + " ".join(ways[name]))
    return printed["one"], wanted


def check_resumed(folder, wanted):
    resumed = folder / "resumed"
    shutil.copytree(folder / "one", resumed)
    for file in resumed.glob("checkpoint-*.safetensors"):
        if step_of(file) > settings.SAVED_EVERY:
            file.unlink()
    run(folder, "train", "model.json", "--run", "resumed", "--resume", "--json", "--threads", "2")
    require_same("resumed in the middle of an epoch", wanted, left(resumed))


def check_loaded(folder, printed):
    metrics = run(folder, "evaluate", "model.json", "--weights", "one/last.safetensors", "--json")["metrics"]
    for split, values in metrics.items():
        if json.dumps(values) != json.dumps(printed["metrics"][split]):
            raise AssertionError("loaded weights give %s %s, the training ended with %s" % (split, values, printed["metrics"][split]))


def check_followed(folder):
    done = subprocess.run([FOLLOW, "model.json"], capture_output=True, text=True, timeout=300, cwd=folder)
    if done.returncode != 0:
        raise AssertionError("beside the evaluator:\n%s%s" % (done.stdout, done.stderr))
    return int(done.stdout.split()[0])


def require_emptied(row, folder):
    """A batch of which nothing counts is in the training of a model that says so."""
    if not settings.lacks_loss(row):
        return
    steps = [event for event in log_of(folder / "one") if event["event"] == "step"]
    if all(event["loss"] is not None for event in steps):
        raise AssertionError("every batch has a loss")


def check(number, row):
    folder = FOLDER / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings.write_rows(row, folder, number)
    (folder / "model.json").write_text(json.dumps(settings.model(row, number), indent=1))
    try:
        printed, wanted = check_bits(folder)
        require_emptied(row, folder)
        check_resumed(folder, wanted)
        check_loaded(folder, printed)
        compared = check_followed(folder)
    except AssertionError as error:
        FAULTS.append("model %d (%s): %s" % (number, folder / "model.json", error))
        print("fault: " + FAULTS[-1], flush=True)
        return 0
    shutil.rmtree(folder)
    return compared


def main():
    rows, impossible = pairs.covering(settings.SETTINGS, SEED, settings.allowed)
    wanted = pairs.all_pairs(settings.SETTINGS)
    ruled_out = [pair for pair in wanted if not settings.allowed(dict(pair))]
    covered = set().union(*map(pairs.pairs_of, rows))
    missing = [dict(pair) for pair in wanted if pair not in covered and settings.allowed(dict(pair))]
    FAULTS.extend("no model has the pair %s" % pair for pair in missing)
    print("%d settings, %d models; %d pairs, %d of them in a model, %d ruled out by the format, %d left out"
          % (len(settings.SETTINGS), len(rows), len(wanted), len(covered & set(wanted)), len(ruled_out), len(missing)), flush=True)
    chosen = range(len(rows))
    if sys.argv[5:] == ["pairs"]:
        chosen = []
    elif sys.argv[5:]:
        chosen = range(int(sys.argv[5]), min(len(rows), int(sys.argv[5]) + int(sys.argv[6])))
    compared = sum(check(number, rows[number]) for number in chosen)
    print("%d models trained, %d tensors compared with the evaluator's, %d faults" % (len(chosen), compared, len(FAULTS)))
    for fault in FAULTS if not chosen else ():
        print("fault: " + fault)
    sys.exit(1 if FAULTS else 0)


if __name__ == "__main__":
    main()
