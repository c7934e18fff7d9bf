"""Weights files of buffers.json.

    buffers.py show FILE BUFFER       prints the shape and the numbers of one
    buffers.py strip FILE OUT         the file without its buffers, as of a program that knows of none
    buffers.py reset FILE OUT         the file with the buffers that a training starts from
"""
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402

STARTS = {"running_mean": 0, "running_var": 1, "num_batches_tracked": 0}


def main():
    _, tensors = safetensors_file.read(sys.argv[2])
    if sys.argv[1] == "show":
        tensor = tensors[sys.argv[3]]
        print(tensor.dtype, tensor.shape, *tensor.values())
        return
    for name in list(tensors):
        start = STARTS.get(name.split(".")[-1])
        if start is None:
            continue
        tensor = tensors.pop(name)
        if sys.argv[1] == "reset":
            element = struct.pack("<" + safetensors_file.CODES[tensor.dtype], start)
            tensors[name] = safetensors_file.Tensor(tensor.dtype, tensor.shape, element * len(tensor.values()))
    safetensors_file.write(sys.argv[3], tensors)


if __name__ == "__main__":
    main()
