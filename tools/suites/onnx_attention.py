"""ONNX Attention. Heads stand behind the rows there, and beside their numbers in Heddle; what is causal counts from the first key."""
from .tensor import OutOfScope


def joined(g, x):
    """[rows, heads, length, width] -> [rows, length, heads * width]"""
    rows, heads, length, width = x.shape
    return g.reshape(g.transpose(x, [0, 2, 1, 3]), (rows, length, heads * width))


def apart(g, x, heads):
    rows, length, width = x.shape
    return g.transpose(g.reshape(x, (rows, length, heads, width // heads)), [0, 2, 1, 3])


def hidden(g, mask, dtype, keys):
    """What is added to the scores: a mask of truth values hides where it is false, and keys that it leaves out are hidden."""
    if mask.dtype == "bool":
        mask = g.select(mask, g.constant(0, dtype, mask.shape), g.constant(float("-inf"), dtype, mask.shape))
    mask = g.reshape(mask, (1,) * (4 - len(mask.shape)) + mask.shape)
    missing = keys - mask.shape[3]
    return g.pad(mask, [0] * 4, [0, 0, 0, missing], fill=float("-inf")) if missing > 0 and mask.shape[3] > 1 else mask


def causal_from_first(g, dtype, queries, keys, shift):
    """Query i sees keys up to i + shift."""
    shape = (1, 1, queries, keys)
    place, key = g.iota(shape, 2), g.iota(shape, 3)
    seen = g.emit("le", [key, g.emit("add", [place, g.like(shift, place)])], dtype="bool")
    return g.select(seen, g.constant(0, dtype, shape), g.constant(float("-inf"), dtype, shape))


def products(g, q, k, scale):
    """Scaled products of queries and keys, [rows, heads, queries, keys]."""
    rows, heads, queries, width = q.shape
    group = heads // k.shape[1]
    y = g.emit("matmul", [g.reshape(q, (rows, k.shape[1], group * queries, width)), k], transpose_b=True,
               shape=(rows, k.shape[1], group * queries, k.shape[2]))
    return g.scaled(g.reshape(y, (rows, heads, queries, k.shape[2])), scale)


def attention(t, node):
    g = t.graph
    q, k, v = (t.value(name) for name in node.inputs[:3])
    flat = len(q.shape) == 3
    if flat:
        kv_heads = node.attr("kv_num_heads")
        q, k, v = apart(g, q, node.attr("q_num_heads")), apart(g, k, kv_heads), apart(g, v, kv_heads)
    past = 0
    if t.optional(node, 4):
        old_k, old_v = t.value(node.inputs[4]), t.value(node.inputs[5])
        past = old_k.shape[2]
        k, v = g.concat([old_k, k], 2), g.concat([old_v, v], 2)
    heads, kv_heads, queries, keys = q.shape[1], k.shape[1], q.shape[2], k.shape[2]
    scale = node.attr("scale", q.shape[3] ** -0.5)
    attrs = {"heads": heads, "scale": float(scale)}
    if kv_heads != heads:
        attrs["kv_heads"] = kv_heads
    if node.attr("softcap", 0.0):
        attrs["soft_cap"] = float(node.attr("softcap"))
    operands = [joined(g, q), joined(g, k), joined(g, v)]
    bias = hidden(g, t.value(node.inputs[3]), q.dtype, keys) if t.optional(node, 3) else None
    lengths = t.optional(node, 6)
    if node.attr("is_causal", 0):
        if lengths:
            raise OutOfScope("Attention that is causal within lengths")
        if keys - queries == past:
            attrs["causal"] = True
        else:
            more = causal_from_first(g, q.dtype, queries, keys, past)
            bias = more if bias is None else g.binary("add", bias, more)
    if bias is not None:
        attrs["bias"] = True
        operands.append(bias)
    if lengths:
        attrs["lengths"] = True
        operands.append(g.cast(t.value(lengths), "i32"))
    sums = ("f32" if q.dtype in ("f16", "bf16") else q.dtype, (q.shape[0], heads, queries))
    y = g.multi("attention", operands, [(q.dtype, (q.shape[0], queries, heads * v.shape[3])), sums], **attrs)[0]
    results = [y if flat else apart(g, y, heads), k, v]
    if len(node.outputs) > 3 and node.outputs[3]:
        if node.attr("qk_matmul_output_mode", 0) != 0:
            raise OutOfScope("Attention with scores behind the mask as a result")
        results.append(products(g, q, k, scale))
    return results


HANDLERS = {"Attention": attention}
