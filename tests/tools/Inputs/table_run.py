"""Usage: table_run.py FOLDER: a model of one number and its four rows."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir()
(folder / "rows.csv").write_text("x,y\n0.5,1\n1,2\n2,4\n3,6\n")
(folder / "model.json").write_text("""{
  "format": "heddle-model/1", "name": "line",
  "inputs": {"x": {"shape": ["N", 1], "dtype": "f32"}, "y": {"shape": ["N", 1], "dtype": "f32"}},
  "nodes": [{"name": "p", "op": "dense", "in": "x", "units": 1}],
  "outputs": {"p": "p"},
  "train": {"batch": {"N": 2}, "epochs": 2, "loss": {"op": "mse", "in": ["p", "y"]}, "optimizer": "sgd"},
  "data": {"train": {"op": "csv", "file": "rows.csv", "x": "x", "y": "y"}}
}
""")
