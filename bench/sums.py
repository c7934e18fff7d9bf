"""The errors of long sums, Heddle's on the host beside PyTorch's, on the same numbers: bench/sums.py HEDDLE [ROW...]

    python3 bench/sums.py build/release/bin/heddle

A row of the table is an operator of one length. Each of five kinds of numbers has its column: the largest error over
eps * (the sum of the terms' sizes), Heddle's first, then PyTorch's. The rule of docs/sums.md is the third column: 4 log2(n).
The last columns are the errors' squares over the results' (NMSE), over all kinds but alternating signs, whose sum is about 0. Needs
numpy and torch, and up to 6 GB of memory; words choose the rows whose names hold one of them.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
import safetensors_file as safetensors  # noqa: E402

KINDS = ["constant", "alternating", "one large", "series", "random"]
EPS = 2.0**-23


def numbers(kind, n, lines):
    """[n, lines] in f32: a line is a column."""
    i = np.arange(n, dtype=np.float64)[:, None]
    scale = 0.1 * (1 + 0.25 * np.arange(lines) / lines)[None, :]
    if kind == "constant":
        x = np.broadcast_to(scale, (n, lines))
    elif kind == "alternating":
        x = np.where(i % 2 == 0, scale, -scale)
    elif kind == "one large":
        x = np.where(i == n // 3, 1e6, scale)
    elif kind == "series":
        x = scale * (i + 1) / n
    else:
        x = scale * (2 * np.random.default_rng(n).random((n, lines)) - 0.75)
    return np.ascontiguousarray(x, dtype=np.float32)


def fold(x, axis):
    """The sum along an axis as a double and what it lost: pairwise, each addition's rounding kept."""
    high, low = np.moveaxis(x, axis, 0).astype(np.float64), None
    low = np.zeros_like(high)
    while len(high) > 1:
        odd = high[-1:], low[-1:]
        half = len(high) // 2
        a, b = high[:half], high[half : 2 * half]
        total = a + b
        back = total - a
        lost = (a - (total - back)) + (b - back) + low[:half] + low[half : 2 * half]
        keep = len(high) % 2
        high = np.concatenate([total, odd[0]]) if keep else total
        low = np.concatenate([lost, odd[1]]) if keep else lost
    return high[0] + low[0]


class Row:
    """`graph`: IR text. `columns(kind)`: its inputs. `ours(result)`, `theirs(inputs)`: results to compare. `exact(inputs)`: what
    they should be, and the sums of the sizes."""

    def __init__(self, name, n, graph, columns, theirs, exact):
        self.name, self.n, self.graph, self.columns, self.theirs, self.exact = name, n, graph, columns, theirs, exact


def reduction(name, n, lines, along):
    shape = (n, lines) if along == 0 else (lines, n)
    dims = f"{shape[0]},{shape[1]}"
    graph = f"graph @sums(input %x: f32[{dims}]) {{\n  %y: f32[{lines}] = reduce_sum(%x) {{axes = [{along}]}}\n  return %y\n}}\n"

    def columns(kind):
        x = numbers(kind, n, lines)
        return {"x": x if along == 0 else np.ascontiguousarray(x.T)}

    return Row(name, n, graph, columns, lambda c: torch.from_numpy(c["x"]).sum(along).numpy(),
               lambda c: (fold(c["x"], along), np.abs(c["x"]).astype(np.float64).sum(along)))


def prefix(n):
    graph = f"graph @sums(input %x: f32[{n}]) {{\n  %y: f32[{n}] = cumsum(%x) {{axis = 0}}\n  %last: f32[1] = slice(%y) {{limits = [{n}], starts = [{n - 1}]}}\n  return %last\n}}\n"
    return Row("cumsum, its last", n, graph, lambda kind: {"x": numbers(kind, n, 1)[:, 0]},
               lambda c: torch.from_numpy(c["x"]).cumsum(0)[-1:].numpy(),
               lambda c: (np.array([fold(c["x"], 0)]), np.array([np.abs(c["x"]).astype(np.float64).sum()])))


def pool(side, channels):
    n = side * side
    graph = (f"graph @sums(input %x: f32[1,{side},{side},{channels}]) {{\n"
             f"  %y: f32[1,1,1,{channels}] = avg_pool2d(%x) {{window = [{side},{side}]}}\n  return %y\n}}\n")

    def theirs(c):
        x = torch.from_numpy(c["x"]).permute(0, 3, 1, 2)
        return torch.nn.functional.avg_pool2d(x, side).numpy().reshape(1, 1, 1, channels)

    def exact(c):
        flat = c["x"].reshape(n, channels)
        return (fold(flat, 0) / n).reshape(1, 1, 1, -1), (np.abs(flat).astype(np.float64).sum(0) / n).reshape(1, 1, 1, -1)

    return Row("average of an image", n, graph, lambda kind: {"x": numbers(kind, n, channels).reshape(1, side, side, channels)},
               theirs, exact)


def product(k, m, n):
    graph = (f"graph @sums(input %a: f32[{k},{m}], input %b: f32[{k},{n}]) {{\n"
             f"  %y: f32[{m},{n}] = matmul(%a, %b) {{transpose_a = true}}\n  return %y\n}}\n")

    def columns(kind):
        b = np.random.default_rng(k).random((k, n)) + 0.5 if kind == "random" else np.full((k, n), 0.7)
        return {"a": numbers(kind, k, m), "b": b.astype(np.float32)}

    def exact(c):
        a, b = c["a"].astype(np.float64), c["b"].astype(np.float64)
        rows = [[fold(a[:, i] * b[:, j], 0) for j in range(n)] for i in range(m)]  # an f32 times another is exact
        return np.array(rows), np.abs(a).T @ np.abs(b)

    return Row(f"weight gradient [{m},{n}]", k, graph, columns,
               lambda c: (torch.from_numpy(c["a"]).T @ torch.from_numpy(c["b"])).numpy(), exact)


def filters(images, side, channels, out, tap=3):
    n = images * side * side
    image, dy, filter_dims = f"{images},{side},{side},{channels}", f"{images},{side},{side},{out}", f"{out},{tap},{tap},{channels}"
    graph = (f"graph @sums(input %x: f32[{image}], input %dy: f32[{dy}]) {{\n  %dw: f32[{filter_dims}] = conv2d_filter_grad(%x, %dy) "
             f"{{filter = [{filter_dims}], pads = [1,1,1,1]}}\n  return %dw\n}}\n")

    def columns(kind):
        shape = (images, side, side, channels)
        x = np.random.default_rng(n).random(shape) + 0.5 if kind == "random" else np.full(shape, 0.7)
        return {"x": x.astype(np.float32), "dy": numbers(kind, n, out).reshape(images, side, side, out)}

    def theirs(c):
        x, dy = (torch.from_numpy(c[v]).permute(0, 3, 1, 2) for v in ("x", "dy"))
        weight = torch.zeros(out, channels, tap, tap)
        dw = torch.ops.aten.convolution_backward(dy, x, weight, None, [1, 1], [tap // 2] * 2, [1, 1], False, [0, 0], 1,
                                                 [False, True, False])[1]
        return dw.permute(0, 2, 3, 1).numpy()

    def exact(c):
        edge = tap // 2
        x = np.pad(c["x"].astype(np.float64), ((0, 0), (edge, edge), (edge, edge), (0, 0)))
        dy = c["dy"].astype(np.float64).reshape(n, out)
        value, size = np.zeros((out, tap, tap, channels)), np.zeros((out, tap, tap, channels))
        for h in range(tap):
            for w in range(tap):
                part = x[:, h : h + side, w : w + side].reshape(n, channels)
                size[:, h, w] = np.abs(dy).T @ np.abs(part)
                for o in range(out):
                    for i in range(channels):
                        value[o, h, w, i] = fold(dy[:, o] * part[:, i], 0)
        return value, size

    return Row(f"filter gradient {tap} x {tap} of {channels} channels", n, graph, columns, theirs, exact)


def gathered(n, rows, columns):
    graph = (f"graph @sums(input %x: f32[{rows},{columns}], input %at: i32[{n}], input %u: f32[{n},{columns}]) {{\n"
             f'  %y: f32[{rows},{columns}] = scatter(%x, %at, %u) {{combine = "add"}}\n  return %y\n}}\n')

    def inputs(kind):
        return {"x": np.zeros((rows, columns), np.float32), "at": (np.arange(n) % rows).astype(np.int32),
                "u": numbers(kind, n, columns)}

    def theirs(c):
        return torch.from_numpy(c["x"]).clone().index_add_(0, torch.from_numpy(c["at"]), torch.from_numpy(c["u"])).numpy()

    def exact(c):
        parts = [c["u"][c["at"] == r] for r in range(rows)]
        return (np.stack([fold(p, 0) for p in parts]), np.stack([np.abs(p).astype(np.float64).sum(0) for p in parts]))

    return Row(f"scatter-add to {rows} rows", n // rows, graph, inputs, theirs, exact)


def table():
    rows = []
    for n in (10**4, 10**6, 10**8):
        rows += [reduction("sum of a row", n, 1, 1), reduction("sums of columns", n // 4, 4, 0)]
    rows += [prefix(10**4), prefix(10**6), pool(512, 4), pool(5000, 1), gathered(3 * 10**4, 3, 4), gathered(3 * 10**6, 3, 4)]
    rows += [product(k, 8, 8) for k in (128, 512, 1024, 4096, 10**4, 10**5)] + [product(k, 2, 3) for k in (10**6, 10**7)]
    rows += [filters(8, 28, 1, 8), filters(128, 28, 1, 8), filters(8, 28, 8, 8), filters(128, 28, 4, 8)]
    rows += [filters(1, 512, 2, 4), filters(2, 1024, 2, 2)]
    return rows


DTYPES = {"float32": "F32", "int32": "I32"}


def run(heddle, row, inputs, folder):
    (folder / "sums.hir").write_text(row.graph)
    tensors = {f"sums/{k}": safetensors.Tensor(DTYPES[str(v.dtype)], list(v.shape), v.tobytes()) for k, v in inputs.items()}
    header, data, offset = {}, [], 0
    for name, t in tensors.items():
        header[name] = {"dtype": t.dtype, "shape": t.shape, "data_offsets": [offset, offset + len(t.data)]}
        data.append(t.data)
        offset += len(t.data)
    (folder / "in.safetensors").write_bytes(safetensors.join(header, b"".join(data)))
    subprocess.run([heddle, "evaluate", folder / "sums.hir", "--on", "host", "--inputs", folder / "in.safetensors", "--outputs",
                    folder / "out.safetensors"], check=True, capture_output=True)
    header, data = safetensors.split((folder / "out.safetensors").read_bytes())
    begin, end = header["sums/0"]["data_offsets"]
    return np.frombuffer(data[begin:end], np.float32).reshape(header["sums/0"]["shape"])


def measure(heddle, row, folder):
    cells, off, of = [], np.zeros(2), 0.0
    for kind in KINDS:
        inputs = row.columns(kind)
        value, size = row.exact(inputs)
        both = run(heddle, row, inputs, folder), row.theirs(inputs)
        errors = [np.abs(b.astype(np.float64) - value) for b in both]
        cells.append(" / ".join(f"{(e / (EPS * size)).max():.3g}" for e in errors))
        if kind != "alternating":
            scale = (value**2).sum()
            off += np.array([(e**2).sum() / scale for e in errors])
            of += 1
    return cells + [f"{x / of:.1e}" for x in off]


def main():
    heddle, words = sys.argv[1], sys.argv[2:]
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print("| sum | n | 4 log2 n | " + " | ".join(KINDS) + " | NMSE | PyTorch's |")
    print("|---" * (5 + len(KINDS)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for row in table():
            if words and not any(word in row.name for word in words):
                continue
            cells = measure(heddle, row, pathlib.Path(folder))
            print(f"| {row.name} | {row.n:,} | {4 * np.log2(row.n):.0f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
