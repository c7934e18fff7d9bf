"""A model that joins as many products of its input as the argument says."""
import json
import sys

parts = [f"part{i}" for i in range(int(sys.argv[1]))]
nodes = [{"name": part, "op": "mul", "in": ["x", 1 + i / 7]} for i, part in enumerate(parts)]
nodes.append({"name": "all", "op": "concat", "in": parts})
print(json.dumps({"format": "heddle-model/1", "name": "many_parts", "inputs": {"x": {"shape": ["N", 8]}}, "nodes": nodes,
                  "outputs": {"all": "all"}, "train": {"batch": {"N": 4}}}))
