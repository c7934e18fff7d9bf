"""Files of other tools as they begin, made without these tools: python3 foreign_files.py FOLDER"""
import json
import pathlib
import pickle
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def archive(name, *members):
    with zipfile.ZipFile(folder / name, "w") as file:
        for member in members:
            file.writestr(member, b"\0" * 64)


archive("net.pt", "archive/data.pkl", "archive/data/0", "archive/version")
archive("script.pt", "net/data.pkl", "net/constants.pkl", "net/code/__torch__.py")
archive("net.keras", "metadata.json", "config.json", "model.weights.h5")
archive("w.npz", "fc1.weight.npy", "fc1.bias.npy")
archive("other.zip", "readme.txt")
(folder / "w.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500))
(folder / "w.gguf").write_bytes(b"GGUF\x03\0\0\0" + bytes(500))
(folder / "w.npy").write_bytes(b"\x93NUMPY\x01\0" + bytes(120))
(folder / "old.pth").write_bytes(pickle.dumps({"a": [1, 2]}))
(folder / "net.onnx").write_bytes(b"\x08\x08\x12\x07pytorch\x1a\x052.1.0" + bytes(100))
(folder / "keras.json").write_text(json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": []}}))
header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
(folder / "w.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
