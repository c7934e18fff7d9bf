"""Checkpoints of each step of a run, and its log: a skipped step leaves every state as it was, bit for bit, but the loss scale.

    skipped_states.py RUN
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))
import safetensors_file  # noqa: E402

OWN = {"step.loss_scale", "step.clean_steps", safetensors_file.CHECKSUM}


def main(run):
    states = {}
    for path in run.glob("checkpoint-*.safetensors"):
        metadata, tensors = safetensors_file.read(path)
        if "heddle.step" in metadata:
            states[int(metadata["heddle.step"])] = {name: t for name, t in tensors.items() if not name.startswith("heddle/")}
    steps = {e["step"]: e for e in map(json.loads, (run / "log.jsonl").read_text().splitlines()) if e["event"] == "step"}
    for step in range(1, len(steps)):  # the rate falls with each step of the optimizer, and with no other
        assert (steps[step + 1]["lr"] == steps[step]["lr"]) == steps[step].get("skipped", False), steps[step]
    skipped, clean, kinds = 0, 0, set()
    for step in sorted(states):
        if step - 1 not in states or steps[step]["step"] == 1:
            continue
        before, after = states[step - 1], states[step]
        moved = {name for name in after if name not in OWN and after[name].data != before[name].data}
        if steps[step]["epoch"] != steps[step - 1]["epoch"]:  # between them an epoch's sums begin anew
            moved = {name for name in moved if not name.endswith((".total", ".counted"))}
        if steps[step].get("skipped"):
            assert not moved, (step, moved)
            assert after["step.loss_scale"].data != before["step.loss_scale"].data, step
            skipped += 1
        else:
            assert "step" in moved, step
            clean, kinds = clean + 1, kinds | moved
    assert skipped >= 3 and clean >= 3, (skipped, clean)
    print(f"{skipped} skipped, {clean} clean; moved: {' '.join(sorted(kinds))}")


main(pathlib.Path(sys.argv[1]))
