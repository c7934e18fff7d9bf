"""Asserts that two files of weights say the same under a key of their metadata: weights_metadata.py FILE FILE KEY"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402

one, two = (safetensors_file.read(path)[0][sys.argv[3]] for path in sys.argv[1:3])
assert one == two and "mean" in one, (one, two)
