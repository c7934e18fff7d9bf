"""ONNX operators that compute element by element."""
import math

from .tensor import DTYPES, FLOATING, OutOfScope

UNARY = {"Abs": "abs", "Neg": "neg", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Sin": "sin",
         "Cos": "cos", "Tan": "tan", "Tanh": "tanh", "Sigmoid": "sigmoid", "Erf": "erf", "Sign": "sign", "Floor": "floor",
         "Ceil": "ceil", "Round": "round", "Not": "not", "BitwiseNot": "not", "Relu": "relu", "Softplus": "softplus",
         "Softsign": "softsign", "Mish": "mish", "HardSwish": "hard_swish", "Asin": "asin", "Acos": "acos", "Atan": "atan",
         "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh"}
BINARY = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "And": "and", "Or": "or", "Xor": "xor",
          "BitwiseAnd": "and", "BitwiseOr": "or", "BitwiseXor": "xor"}
COMPARE = {"Equal": "eq", "Less": "lt", "LessOrEqual": "le", "Greater": "gt", "GreaterOrEqual": "ge"}
VARIADIC = {"Max": "max", "Min": "min", "Sum": "add"}


def unary(t, node):
    return [t.graph.emit(UNARY[node.op], t.operands(node))]


def binary(t, node):
    return [t.graph.binary(BINARY[node.op], *t.operands(node))]


def compare(t, node):
    return [t.graph.binary(COMPARE[node.op], *t.operands(node), dtype="bool")]


def variadic(t, node):
    values = t.operands(node)
    total = values[0]
    for v in values[1:]:
        total = t.graph.binary(VARIADIC[node.op], total, v)
    return [total]


def mean(t, node):
    return [t.graph.scaled(variadic_sum(t, node), 1 / len(node.inputs))]


def variadic_sum(t, node):
    values = t.operands(node)
    total = values[0]
    for v in values[1:]:
        total = t.graph.binary("add", total, v)
    return total


def is_nan(t, node):
    return [t.graph.emit("is_nan", t.operands(node), dtype="bool")]


def is_inf(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    signs = [("detect_positive", math.inf), ("detect_negative", -math.inf)]
    found = [g.emit("eq", [x, g.like(limit, x)], dtype="bool") for attr, limit in signs if node.attr(attr, 1)]
    if not found:
        return [g.constant(0, "bool", x.shape)]
    return [found[0] if len(found) == 1 else g.emit("or", found)]


def shrink(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    limit, bias = node.attr("lambd", 0.5), node.attr("bias", 0.0)
    low, high = (g.emit(op, [x, g.like(at, x)], dtype="bool") for op, at in (("lt", -limit), ("gt", limit)))
    above = g.select(high, g.emit("sub", [x, g.like(bias, x)]), g.like(0, x))
    return [g.select(low, g.emit("add", [x, g.like(bias, x)]), above)]


def bit_cast(t, node):
    from .onnx import element_type
    x, dtype = t.value(node.inputs[0]), element_type(node.attr("to"))
    return [same_bits(t.graph, x, dtype)]


def same_bits(g, x, dtype):
    """Integers of one width, which a cast keeps the bits of."""
    if x.dtype in FLOATING or dtype in FLOATING or DTYPES[x.dtype][1] != DTYPES[dtype][1]:
        raise OutOfScope("the bits of %s as %s" % (x.dtype, dtype))
    return g.cast(x, dtype)


def bit_shift(t, node):
    return [t.graph.binary("shift_left" if node.attr("direction") == "LEFT" else "shift_right_logical", *t.operands(node))]


def where(t, node):
    return [t.graph.select(*t.operands(node))]


def cast(t, node):
    from .onnx import element_type
    return [t.graph.cast(t.value(node.inputs[0]), element_type(node.attr("to")))]


def cast_like(t, node):
    x, like = t.operands(node)
    return [t.graph.cast(x, like.dtype)]


def mod(t, node):
    g, (a, b) = t.graph, t.operands(node)
    r = g.binary("mod", a, b)
    if node.attr("fmod", 0):
        return [r]
    zero, b = g.like(0, r), g.broadcast(b, r.shape)  # the remainder of a division that rounds down has b's sign
    opposite = g.binary("ne", g.binary("lt", r, zero, "bool"), g.binary("lt", b, zero, "bool"), "bool")
    wrong = g.binary("and", g.binary("ne", r, zero, "bool"), opposite)
    return [g.select(wrong, g.binary("add", r, b), r)]


def power(t, node):
    g, (a, b) = t.graph, t.operands(node)
    if a.dtype == b.dtype:
        return [g.binary("pow", a, b)]
    compute = a.dtype if a.dtype in FLOATING else "f64"
    return [g.cast(g.binary("pow", g.cast(a, compute), g.cast(b, compute)), a.dtype)]


def clip(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    low, high = t.optional(node, 1), t.optional(node, 2)
    if t.opset < 11:
        return [g.emit("clamp", [x], low=node.attr("min", float("-inf")), high=node.attr("max", float("inf")))]
    if low:
        x = g.binary("max", x, t.value(low))
    if high:
        x = g.binary("min", x, t.value(high))
    return [x]


def leaky_relu(t, node):
    return [t.graph.emit("leaky_relu", t.operands(node), slope=float(node.attr("alpha", 0.01)))]


def with_alpha(op):
    return lambda t, node: [t.graph.emit(op, t.operands(node), alpha=float(node.attr("alpha", 1.0)))]


def selu(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    alpha, gamma = node.attr("alpha"), node.attr("gamma")
    if alpha is None and gamma is None:
        return [g.emit("selu", [x])]
    y = g.emit("elu", [x], alpha=float(1.6732632423543772 if alpha is None else alpha))
    return [g.scaled(y, 1.0507009873554805 if gamma is None else gamma)]


def hard_sigmoid(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    scaled = g.scaled(x, node.attr("alpha", 0.2))
    return [g.emit("clamp", [g.emit("add", [scaled, g.like(node.attr("beta", 0.5), scaled)])], low=0.0, high=1.0)]


def gelu(t, node):
    if node.attr("approximate", "none") != "none":
        raise OutOfScope("operator Gelu approximated by tanh")
    return [t.graph.emit("gelu", t.operands(node))]


def prelu(t, node):
    g, (x, slope) = t.graph, t.operands(node)
    if t.opset < 7 and len(slope.shape) == 1:  # one slope a channel, before broadcasting was NumPy's
        slope = g.reshape(slope, slope.shape + (1,) * (len(x.shape) - 2))
    return [g.select(g.binary("lt", x, g.like(0, x), "bool"), g.binary("mul", x, slope), x)]


def swish(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    if node.attr("alpha", 1.0) == 1.0:
        return [g.emit("silu", [x])]
    return [g.emit("mul", [x, g.emit("sigmoid", [g.scaled(x, node.attr("alpha"))])])]


HANDLERS = {
    **dict.fromkeys(UNARY, unary), **dict.fromkeys(BINARY, binary), **dict.fromkeys(COMPARE, compare),
    **dict.fromkeys(VARIADIC, variadic), "Mean": mean, "IsNaN": is_nan, "Where": where, "Cast": cast,
    "CastLike": cast_like, "Mod": mod, "Pow": power, "Clip": clip, "LeakyRelu": leaky_relu, "Elu": with_alpha("elu"),
    "Celu": with_alpha("celu"), "Selu": selu, "HardSigmoid": hard_sigmoid, "Gelu": gelu, "PRelu": prelu, "Swish": swish,
    "IsInf": is_inf, "Shrink": shrink, "BitShift": bit_shift, "BitCast": bit_cast,
}
