"""How each registered part is used, by docs/model-format.md alone. A part that is not here, and that no rule covers, fails the test.

INPUTS are the columns of the data; a part's row is a node, or what stands beside "op".
"""

# name: (shape behind the batch, dtype, lowest, highest)
INPUTS = {
    "x": ([6], "f32", 0.1, 0.9), "big": ([6], "f32", 1.1, 3.0), "image": ([8, 8, 4], "f32", -1.0, 1.0),
    "sequence": ([8, 4], "f32", -1.0, 1.0), "volume": ([3, 5, 4, 2], "f32", -1.0, 1.0), "label": ([], "i32", 0, 2), "ids": ([3], "i32", 0, 2),
    "pairs": ([5, 2], "i32", 0, 1), "flags": ([6], "u8", 0, 1), "bits": ([6], "i32", 1, 7), "sign": ([], "f32", 0, 1),
    "probability": ([3], "f32", 0.1, 0.3),
    "singles": ([5, 1], "i32", 0, 5), "fives": ([5], "f32", -1.0, 1.0),
}

WINDOW = {"in": "image", "window": 2}
WINDOWS = {"in": "image", "window": [1, 2, 2, 1], "strides": [1, 2, 1, 1], "pads": [0, 1, 0, 0, 0, 0, 1, 0]}
CONV = {"in": "image", "filters": 4, "kernel": 3, "pad": "same", "activation": "relu"}

# Nodes that others read.
BEFORE = [
    {"name": "starts", "op": "constant", "value": 0, "dtype": "i32", "shape": [2]},
    {"name": "place", "op": "constant", "value": 1, "dtype": "i32", "shape": [2]},
    {"name": "table", "op": "param", "shape": [3, 6], "init": {"op": "constant", "value": 0.5}},
    {"name": "updates", "op": "param", "shape": [2, 6]},
    {"name": "truth", "op": "cast", "in": "flags", "dtype": "bool"},
    {"name": "truths", "op": "gt", "in": ["x", 0.5]},
    {"name": "first", "op": "slice", "in": "x", "axis": 1, "stop": 2},
    {"name": "cubes", "op": "pow", "in": ["x", 3.0]}, {"name": "total", "op": "sum", "axis": 1},
    {"name": "heights", "op": "mean", "in": "sequence", "axis": 2},
]

# Which nodes may run.
BLOCKS = {"recur": {"inputs": ["v", "h"], "nodes": [{"name": "vh", "op": "add", "in": ["v", "h"]}, {"name": "next", "op": "tanh"}], "output": "next"}}

LAYERS = {
    "acosh": {"in": "big"},
    "attention": {"in": {"q": "sequence", "k": "sequence", "v": "sequence"}, "heads": 2, "causal": True, "dropout": 0.1},
    "decoder_layer": {"in": ["sequence", "sequence"], "heads": 2, "feedforward": 8, "causal": True},
    "document_positions": {"in": "ids"}, "encoder_layer": {"in": "sequence", "heads": 2, "feedforward": 8},
    "learned_positions": {"in": "sequence"}, "multi_head_attention": {"in": "sequence", "heads": 2},
    "relative_positions": {"in": "sequence", "heads": 2}, "rotary": {"in": "sequence", "heads": 2}, "sinusoidal_positions": {"in": "sequence"},
    **{f"adaptive_{op}_pool1d": {"in": "sequence", "size": 2} for op in ("avg", "max")},
    **{f"adaptive_{op}_pool2d": {"in": "image", "size": 3} for op in ("avg", "max")},
    **{f"adaptive_{op}_pool3d": {"in": "volume", "size": 2} for op in ("avg", "max")},
    "avg_pool1d": {"in": "sequence", "window": 2}, "avg_pool2d": WINDOW, "avg_pool3d": {"in": "volume", "window": 2},
    "batch_norm": {"in": "image"}, "cast": {"dtype": "f64"}, "clip_gradient": {"limit": 0.5}, "clamp": {"low": 0.2, "high": 0.8}, "concat": {"in": ["x", "big"]},
    "constant": {"value": 2, "shape": [3]}, "conv1d": {"in": "sequence", "filters": 4, "kernel": 3}, "conv2d": CONV,
    "conv2d_transpose": {"in": "image", "filters": 4, "kernel": 3, "stride": 2},
    "conv1d_transpose": {"in": "sequence", "filters": 4, "kernel": 3, "stride": 2}, "conv3d": {"in": "volume", "filters": 4, "kernel": 2},
    "conv3d_transpose": {"in": "volume", "filters": 4, "kernel": 2, "stride": 2, "weight_norm": True},
    "dense": {"units": 4, "activation": "relu", "spectral_norm": {"iterations": 2}},
    "depthwise_conv2d": {"in": "image", "kernel": 3}, "dropout": {"rate": 0.5},
    "dynamic_slice": {"in": ["x", "starts"], "sizes": ["N", 2]}, "dynamic_update_slice": {"in": ["x", "first", "starts"]},
    "einsum": {"in": ["x", "table"], "equation": "ni,oi->no"}, "embedding": {"in": "ids", "vocab": 3, "units": 4, "weight_norm": True},
    "flatten": {"in": "image"}, "fold": {"in": "image", "kernel": 2, "size": 9}, "histogram": {"bins": 4, "min": 0, "max": 1},
    "quantile": {"q": [0.25, 0.5], "axis": 1}, "searchsorted": {"boundaries": [0.2, 0.5], "side": "right"},
    "unfold": {"in": "image", "kernel": 3, "pad": 1}, "gather": {"in": ["table", "label"]}, "gather_nd": {"in": ["table", "pairs"]},
    "global_avg_pool": {"in": "image"}, "gradient": {"in": ["total", "x"]}, "gru": {"in": "sequence", "units": 3, "out": ["gru_all", "gru_last"]}, "global_max_pool": {"in": "image"}, "group_norm": {"in": "image", "groups": 2},
    "instance_norm": {"in": "image"}, "iota": {"size": 4}, "lstm": {"in": "sequence", "units": 3, "out": ["lstm_all", "lstm_last", "lstm_cell"]}, "matmul": {"in": ["x", "table"], "transpose_b": True},
    "max_pool1d": {"in": "sequence", "window": 2}, "max_pool2d": WINDOW, "max_pool3d": {"in": "volume", "window": 2}, "one_hot": {"in": "ids", "depth": 3},
    "pad": {"low": [0, 1], "high": [0, 2], "fill": 0.5}, "param": {"shape": [3]}, "pixel_shuffle": {"in": "image", "factor": 2}, "prelu": {"in": "image"},
    "random_normal": {"shape": ["N", 2]}, "random_uniform": {"shape": ["N", 2]}, "reshape": {"shape": ["N", 3, 2]}, "broadcast_to": {"shape": [2, -1, -1]},
    "resize2d": {"in": "image", "size": 5}, "reverse": {"axes": [1]}, "scatter": {"in": ["table", "place", "updates"]},
    "scatter_nd": {"in": ["x", "singles", "fives"], "batch": 1}, "select": {"in": ["truths", "x", "big"]},
    "select_and_scatter": {"in": ["x", "x"], "window": [1, 1]}, "separable_conv2d": {"in": "image", "filters": 4, "kernel": 3},
    "roll": {"shifts": [1, 2], "axis": [0, 1]},
    "rnn": {"in": "sequence", "units": 3, "out": ["rnn_all", "rnn_last"]}, "scan": {"block": "recur", "in": {"v": "sequence"}, "slice": ["v"], "carry": {"h": ["N", 4]}, "out": ["last_h", "all_h"]},
    "round_stochastic": {"in": ["big", "x"]}, "round_within": {"in": ["x", -1, 1]}, "scale_gradient": {"scale": -1}, "straight_through": {"in": ["big", "x"]},
    "slice": {"axis": 1, "start": 1, "stop": 4}, "spatial_dropout": {"in": "image", "rate": 0.5},
    "split": {"parts": 2, "out": ["left", "right"]}, "take_along_axis": {"in": ["x", "ids"]},
    "nms": {"in": ["sequence", "heights"], "outputs": 3, "iou": 0.3, "out": ["nms_kept", "nms_count"]},
    "top_k": {"k": 2, "out": ["largest", "places"]}, "transpose": {"in": "image", "perm": [0, 2, 1, 3]},
    "upsample2d": {"in": "image", "scale": 2},
    **{op: WINDOWS for op in ("window_sum", "window_prod", "window_max", "window_min")},
    **{op: {"in": ["bits", "bits"]} for op in ("shift_left", "shift_right_arithmetic", "shift_right_logical", "xor")},
    "and": {"in": ["truth", "truths"]}, "or": {"in": ["truth", "truths"]}, "not": {"in": "truth"}, "popcnt": {"in": "bits"},
}

LOGITS = {"in": ["logits", "label"]}
STEPS = {"in": ["steps", "ids"]}
SPANS = {"in": ["logits", "log_probs", "label", "label"]}
LOSSES = {
    "binary_cross_entropy": {"in": ["score", "sign"]}, "cross_entropy": {**LOGITS, "label_smoothing": 0.1},
    "ciou": {"in": ["boxes", "sequence"]}, "cosine_embedding": {"in": ["logits", "probability", "label"], "margin": 0.5}, "ctc": {**STEPS, "zero_infinity": True},
    "dice": {"in": ["score", "sign"], "smooth": 1}, "focal": {"in": ["score", "sign"], "gamma": 1.5},
    "gaussian_nll": {"in": ["logits", "probability", "probability"], "full": True},
    "hinge": {"in": ["score", "sign"]}, "huber": {"in": ["score", "sign"], "delta": 0.5},
    "kl_divergence": {"in": ["log_probs", "probability"]}, "mae": {"in": ["score", "sign"]},
    "margin_ranking": {"in": ["score", "sign", "sign"], "margin": 0.1}, "mse": {"in": ["score", "sign"]}, "multi_margin": {**LOGITS, "p": 2},
    "nll": {"in": ["log_probs", "label"]}, "poisson_nll": {"in": ["score", "sign"]}, "quantile": {"in": ["score", "sign"], "quantile": 0.9},
    "triplet": {"in": ["logits", "log_probs", "probability"], "swap": True}, "tversky": {"in": ["score", "sign"], "alpha": 0.3, "beta": 0.7}, "value": {"in": "scalar", "weight": 0.1},
}
METRICS = {
    "accuracy": LOGITS, "auc": {"in": ["score", "sign"], "bins": 20}, "balanced_accuracy": {**LOGITS, "adjusted": True}, "brier": LOGITS, "confusion": LOGITS, "ece": {**LOGITS, "bins": 10}, "f1": {**LOGITS, "average": "macro"},
    "iou": {**LOGITS, "average": "none"}, "jaccard": {**LOGITS, "average": "macro"}, "specificity": {**LOGITS, "class": 1}, "kappa": {**LOGITS, "weighting": "quadratic"}, "log_loss": LOGITS, "mae": {"in": ["score", "sign"]}, "mcc": LOGITS, "mape": {"in": ["score", "sign"]}, "mse": {"in": ["score", "sign"]}, "perplexity": LOGITS, "bits_per_character": LOGITS,
    "bleu": {**STEPS, "order": 2}, "character_error_rate": {**STEPS, "decode": {"op": "ctc_greedy", "blank": 0}}, "exact_match": STEPS, "rouge_l": STEPS,
    "ndcg": {"in": ["logits", "probability"], "k": 2, "gain": "exponential"}, "pr_auc": {"in": ["score", "sign"], "bins": 20},
    "span_exact_match": SPANS, "span_f1": {**SPANS, "max_length": 2}, "word_error_rate": {**STEPS, "space": 1}, "precision": {**LOGITS, "class": 1},
    "r2": {"in": ["score", "sign"]}, "recall": {**LOGITS, "average": "micro"}, "rmse": {"in": ["score", "sign"]}, "top_k_accuracy": {**LOGITS, "k": 2},
}
OPTIMIZERS = {name: {"lr": 0.01, "weight_decay": 0.1} for name in (
    "adabelief", "adadelta", "adagrad", "adam", "adamax", "adamw", "lamb", "lion", "nadam", "radam", "rmsprop", "sgd")}
SCHEDULES = {
    "constant": {"value": 0.1}, "cosine": {"peak": 0.1, "warmup": 1}, "cosine_restarts": {"peak": 0.1, "steps": 2},
    "exponential": {"value": 0.1, "gamma": 0.9}, "linear": {"peak": 0.1}, "one_cycle": {"peak": 0.1}, "plateau": {"value": 0.1},
    "polynomial": {"peak": 0.1, "power": 2}, "step": {"value": 0.1, "steps": 2},
}
INITIALIZERS = {
    "constant": {"value": 0.1}, "glorot_normal": {}, "glorot_uniform": {}, "he_normal": {}, "he_uniform": {}, "kaiming_normal": {},
    "kaiming_uniform": {}, "normal": {"std": 0.1}, "ones": {}, "orthogonal": {"gain": 2}, "truncated_normal": {"std": 0.1},
    "uniform": {"low": -1, "high": 1}, "variance_scaling": {"mode": "fan_out"}, "zeros": {},
}
REGULARIZERS = {
    "elastic": {"match": "*.weight", "l1": 0.01, "l2": 0.01}, "l1": {"match": "*.bias", "weight": 0.01},
    "l2": {"match": ["*.weight", "*.bias"], "weight": 0.01}, "orthogonal": {"match": "*.weight", "weight": 0.01, "mode": "columns"},
}
CONSTRAINTS = {
    "clip": {"match": "*.weight", "min": -0.5, "max": 0.5}, "max_norm": {"match": "*.weight", "max": 1, "axis": [0, 1]},
    "non_negative": {"match": "*.bias"}, "unit_norm": {"match": "*.weight", "eps": 1e-6},
}
# The shape of a row's picture, that of its label where it is no number, and the reader.
READERS = {
    "cifar": ([32, 32, 3], {"files": "cifar.bin", "picture": "image", "label": "label"}),
    "csv": ([12], {"file": "table.csv", "delimiter": "auto", "quote": "'", "comment": "#", "skip": 0, "decimal": ".", "where": "label >= 0", "missing": ["mean", "indicator"], "picture": "p0:p11", "label": "label"}),
    "idx": ([12], {"picture": "picture.idx", "label": "label.idx"}),
    "image_folder": ([4, 4, 3], {"folder": "pictures", "resize": "cover", "filter": "bicubic", "picture": "image", "label": "label"}),
    "json_lines": ([12], {"file": "rows.jsonl", "where": "label >= 0", "missing": "median", "picture": "pixels", "label": "label"}),
    "libsvm": ([12], {"file": "rows.libsvm", "picture": "features", "label": "target"}),
    "npy": ([12], {"picture": "picture.npy", "label": "label.npy"}),
    "npz": ([12], {"file": "all.npz", "picture": "picture", "label": "label"}),
    "parallel_text": ([12], [12], {"from": "from.txt", "to": "to.txt", "padding": "<pad>", "begin": "<s>", "end": "</s>", "picture": "target", "label": "next"}),
    "sound_folder": ([12], {"folder": "sounds", "rate": 8000, "picture": "samples", "label": "label"}),
    "synthetic": ([12, 12], {"rows": 32, "picture": "image", "label": "label"}),
    "text_folder": ([12], {"folder": "texts", "padding": "<pad>", "picture": "characters", "label": "file"}),
    "tokens": ([12], [12], {"file": "from.txt", "picture": "window", "label": "next"}),
}
# The shape of a row's picture and its type, and the map.
MAPS = {
    "affine": ([4, 3], "f32", {"degrees": 20, "translate": [0.1, 0.2], "scale": [0.8, 1.2], "shear": 5, "fill": 1}),
    "blur": ([4, 3], "f32", {"kernel": 3, "sigma": [0.5, 1]}), "center_crop": ([2, 3], "f32", {"from": [4, 3]}),
    "color_jitter": ([4, 3], "f32", {"brightness": 0.4, "contrast": 0.4, "white": 1}),
    "grayscale": ([2, 2, 3], "f32", {"probability": 0.5}), "random_erase": ([4, 3], "f32", {"probability": 1, "scale": [0.1, 0.3]}),
    "random_resized_crop": ([4, 3], "f32", {"scale": [0.5, 1], "ratio": [0.5, 2], "filter": "nearest"}), "rotate": ([4, 3], "f32", {"degrees": 90}),
    "cast": ([12], "i32", {"dtype": "i32"}), "crop": ([4, 3], "f32", {"pad": 1}), "cutout": ([4, 3], "f32", {"size": 2}),
    "flip": ([4, 3], "f32", {"probability": 0.5}), "mixup": ([12], "f32", {"alpha": 0.4}),
    "mask_tokens": ([12], "i32", {"mask": 1, "vocab": 256, "targets": "label"}),
    "normalize": ([12], "f32", {"mean": 0.5, "std": 2}), "one_hot": ([12, 3], "f32", {"depth": 3}),
    "pad": ([6, 5], "f32", {"pad": 1}), "scale": ([12], "f32", {"by": 0.5}), "shift": ([12], "f32", {"by": 1}),
}
