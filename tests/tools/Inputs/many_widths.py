"""Prints a model of so many dense layers, each of its own width: as many different kernels, and their gradients."""
import json
import sys

layers = [{"name": f"fc{i}", "op": "dense", "units": 17 + 3 * i, "activation": "gelu"} for i in range(int(sys.argv[1]))]
layers[0]["in"] = "x"
print(json.dumps({
    "format": "heddle-model/1",
    "name": "many_widths",
    "inputs": {"x": {"shape": ["N", 8], "dtype": "f32"}, "y": {"shape": ["N"], "dtype": "i32"}},
    "nodes": layers + [{"name": "logits", "op": "dense", "units": 3}],
    "outputs": {"logits": "logits"},
    "train": {"batch": {"N": 32}, "epochs": 1, "loss": {"op": "cross_entropy", "in": ["logits", "y"]},
              "optimizer": {"op": "adam", "lr": 0.001}},
}))
