#!/usr/bin/env python3
"""Writes the small ONNX models of tests/test_model.c into its own folder.

Needs nothing but Python: the few lines below write protobuf's wire format.
Each model states one rule of gen/model.c; run it again after a change and the
files come out with the same bytes.
"""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))

# ---- wire format ----


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def num(field, v):
    return varint(field << 3) + varint(v)


def raw(field, data):
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def f32(field, v):
    return varint(field << 3 | 5) + struct.pack("<f", v)


# ---- ONNX ----

FLOAT, INT32, INT64, BOOL, FLOAT16, DOUBLE = 1, 6, 7, 9, 10, 11


def tensor(name, dims, values=None, type=FLOAT, data=None):
    """values: floats for raw_data; data: ready fields instead."""
    out = b"".join(num(1, d) for d in dims) + num(2, type) + raw(8, name)
    if data is not None:
        return out + data
    count = 1
    for d in dims:
        count *= d
    if values is None:
        values = [0.25 * (i % 7 - 3) for i in range(count)]
    form = {FLOAT: "f", INT32: "i", INT64: "q", FLOAT16: "e", DOUBLE: "d"}[type]
    return out + raw(9, struct.pack("<%d%s" % (len(values), form), *values))


def attr(name, v):
    out = raw(1, name)
    if isinstance(v, float):
        return out + f32(2, v) + num(20, 1)
    if isinstance(v, int):
        return out + num(3, v) + num(20, 2)
    if isinstance(v, str):
        return out + raw(4, v) + num(20, 3)
    if isinstance(v, Graph):
        return out + raw(6, v.bytes()) + num(20, 5)
    if isinstance(v, bytes):  # a tensor
        return out + raw(5, v) + num(20, 4)
    return out + b"".join(num(8, i) for i in v) + num(20, 7)


class Graph:
    def __init__(self):
        self.nodes, self.inits, self.ins, self.outs = [], [], [], []

    def node(self, op, ins, outs, name="", domain="", **attrs):
        out = b"".join(raw(1, i) for i in ins)
        out += b"".join(raw(2, o) for o in outs)
        out += raw(3, name) + raw(4, op)
        out += b"".join(raw(5, attr(k, v)) for k, v in attrs.items())
        if domain:
            out += raw(7, domain)
        self.nodes.append(out)
        return outs[0] if outs else None

    def init(self, name, dims, values=None, **more):
        self.inits.append(tensor(name, dims, values, **more))
        return name

    def input(self, name, dims=()):
        shape = b"".join(
            raw(1, num(1, d) if isinstance(d, int) else raw(2, d)) for d in dims
        )
        self.ins.append(raw(1, name) + raw(2, raw(1, num(1, 1) + raw(2, shape))))
        return name

    def output(self, *names):
        self.outs += [raw(1, n) for n in names]

    def bytes(self):
        return (
            b"".join(raw(1, n) for n in self.nodes)
            + raw(2, "g")
            + b"".join(raw(5, i) for i in self.inits)
            + b"".join(raw(11, i) for i in self.ins)
            + b"".join(raw(12, o) for o in self.outs)
        )


def save(name, graph):
    model = num(1, 8) + raw(2, "make_models") + raw(7, graph.bytes())
    model += raw(8, num(2, 13))
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(model)


def new():
    g = Graph()
    g.input("x", ["batch", 2, 8, 8])
    return g


# ---- where weights come from ----


def weights():
    g = new()
    g.node("Constant", [], ["c.weight"], "", value=tensor("t", [3, 2, 1, 1]))
    y = g.node("Conv", ["x", "c.weight"], ["y1"], "/c/Conv")
    g.init("one.weight", [3, 3, 1, 1])
    g.node("Identity", ["one.weight"], ["two.weight"])
    g.node("Identity", ["two.weight"], ["anonymous"])
    y = g.node("Conv", [y, "one.weight"], ["y2"], "/one/Conv")
    y = g.node("Conv", [y, "two.weight"], ["y3"], "/two/Conv")
    y = g.node("Conv", [y, "anonymous"], ["y4"], "/three/Conv")
    y = g.node("Flatten", [y], ["flat"], "/Flatten")
    g.init("fc.weight", [5, 192])
    g.node("Transpose", ["fc.weight"], ["t"], "/fc/Transpose", perm=[1, 0])
    y = g.node("MatMul", [y, "t"], ["y5"], "/fc/MatMul")
    g.init("g.kernel", [5, 4])
    g.node("Transpose", ["g.kernel"], ["gt"], "/g/Transpose")
    y = g.node("Gemm", [y, "gt"], ["y6"], "/g/Gemm", transB=1)
    g.output(y)
    save("weights.onnx", g)


def shared():
    g = new()
    g.init("fc.weight", [4, 4])
    y = g.node("Flatten", ["x"], ["flat"], "/Flatten")
    g.node("Transpose", ["fc.weight"], ["t1"], "/fc/Transpose", perm=[1, 0])
    y = g.node("MatMul", [y, "t1"], ["y1"], "/fc/MatMul")
    g.node("Transpose", ["fc.weight"], ["t2"], "/fc_1/Transpose", perm=[1, 0])
    y = g.node("MatMul", [y, "t2"], ["y2"], "/fc_1/MatMul")
    g.init("own.weight", [4, 4])
    y = g.node("Gemm", [y, "own.weight"], ["y3"], "/own/Gemm", transB=1)
    g.output(y)
    save("shared.onnx", g)


def forms():
    """One weight tensor in every form, the same values."""
    v = [0.5, -1.0, 2.0, 0.25]
    half = struct.pack("<4e", *v)
    forms = {
        "raw": dict(values=v),
        "packed": dict(data=raw(4, struct.pack("<4f", *v))),
        "unpacked": dict(data=b"".join(f32(4, x) for x in v)),
        "pieces": dict(data=raw(4, struct.pack("<3f", *v[:3])) + f32(4, v[3])),
        "packed_twice": dict(
            data=raw(4, struct.pack("<3f", *v[:3]))
            + raw(4, struct.pack("<f", v[3]))
        ),
        "double": dict(type=DOUBLE, data=raw(10, struct.pack("<4d", *v))),
        "half": dict(type=FLOAT16, values=v),
        "half_list": dict(
            type=FLOAT16,
            data=raw(
                5, b"".join(varint(h) for h in struct.unpack("<4H", half))
            ),
        ),
    }
    g = new()
    for name, more in forms.items():
        g.init(name, [2, 2, 1, 1], **more)
        g.output(g.node("Conv", ["x", name], ["y_" + name], name + "_conv"))
    save("forms.onnx", g)


def external():
    def entry(k, v):
        return raw(13, raw(1, k) + raw(2, v))

    def model(file, location, offset=None, length=None, dims=(2, 2, 1, 1)):
        data = entry("location", location) + num(14, 1)
        if offset is not None:
            data += entry("offset", offset)
        if length is not None:
            data += entry("length", length)
        g = new()
        g.init("w", dims, data=data)
        g.output(g.node("Conv", ["x", "w"], ["y"], "conv"))
        save(file, g)

    with open(os.path.join(HERE, "external.data"), "wb") as f:
        f.write(b"pad!" + struct.pack("<4f", 0.5, -1.0, 2.0, 0.25))
    model("external.onnx", "external.data", "4", "16")
    model("external_rest.onnx", "./external.data", "4")
    model("external_missing.onnx", "no such file", "0", "16")
    model("external_short.onnx", "external.data", "8", "16")
    model("external_outside.onnx", "../models/external.data", "4", "16")
    model("external_absolute.onnx", "/etc/hostname", "0", "16")
    model("external_offset.onnx", "external.data", "99999999999999999999", "16")
    model("external_length.onnx", "external.data", "4", "12")


# ---- what cannot be quantized ----


def refused():
    g = new()
    g.init("w", [2, 2, 1, 1])

    def conv(name, data="x", weight=None, dims=(2, 2, 1, 1), **attrs):
        if weight is None:
            weight = g.init(name + ".weight", dims)
        g.output(g.node("Conv", [data, weight], [name + "_y"], name, **attrs))

    conv("plain")
    p = g.node("Pad", ["x", "pads"], ["p"], "/reflect/Pad", mode="reflect")
    g.init("pads", [8], [0] * 8, type=INT64)
    conv("/reflect/Conv", p)
    conv("/elsewhere/Conv", p)
    conv("dilated", dilations=[1, 2])
    conv("dilated3d", dims=(2, 2, 1, 1, 1), dilations=[2, 1, 1])
    conv("dilated3d_inner", dims=(2, 2, 1, 1, 1), dilations=[1, 2, 1])
    u = g.node("Unsqueeze", ["x", "axis0"], ["u"], "/unsqueeze")
    g.init("axis0", [1], [0], type=INT64)
    conv("unsqueezed", u)
    v = g.node("Unsqueeze", ["x"], ["v"], "/unsqueeze_old", axes=[1])
    conv("channel_added", v)
    conv("computed", weight=g.node("Relu", ["w"], ["w_relu"], "wr"))
    conv("four_axes", dims=(2, 2, 1, 1, 1, 1))

    def linear(op, name, a, b, **attrs):
        g.output(g.node(op, [a, b], [name + "_y"], name, **attrs))

    f = g.node("Flatten", ["x"], ["f"], "/Flatten")
    g.init("m", [4, 4])
    g.init("m3", [1, 4, 4])
    linear("Gemm", "trans_a", f, g.init("ma", [4, 4]), transA=1)
    linear("Gemm", "alpha", f, g.init("mb", [4, 4]), alpha=0.5)
    linear("Gemm", "beta_alone", f, g.init("mc", [4, 4]), beta=0.5)
    linear("MatMul", "constant_first", "m", f)
    linear("MatMul", "computed_both", f, f)
    linear("MatMul", "three_dims", f, "m3")
    linear("MatMul", "matmul", f, g.init("md", [4, 4]))
    g.output(g.node("AveragePool", ["x"], ["pa"], "pool1d", kernel_shape=[2]))
    g.output(g.node("AveragePool", ["x"], ["pb"], "pool2d", kernel_shape=[2, 2]))
    g.output(g.node("Conv", ["x", "w"], ["foreign_y"], "foreign", domain="my"))
    for name, more in (
        ("lstm", {}),
        ("both_ways", dict(direction="bidirectional")),
        ("/stack/LSTM", {}),
        ("/stack/LSTM_1", {}),
    ):
        wi = g.init(name + "W", [1, 8, 4])
        r = g.init(name + "R", [1, 8, 2])
        g.output(
            g.node("LSTM", [f, wi, r], [name + "_y"], name, hidden_size=2, **more)
        )
    save("refused.onnx", g)


def branches():
    body = Graph()
    body.init("loop.weight", [2, 2, 1, 1])
    body.output(body.node("Conv", ["x", "loop.weight"], ["ly"], "/loop/Conv"))
    inner = Graph()
    inner.output(inner.node("Conv", ["x", "outer.weight"], ["iy"], "/inner/Conv"))
    then = Graph()
    then.init("then.weight", [2, 2, 1, 1])
    y = then.node("Conv", ["x", "then.weight"], ["ty"], "/then/Conv")
    y = then.node("Relu", [y], ["tr"], "/then/Relu")
    then.output(then.node("If", ["c"], ["deep"], "/deep/If", then_branch=inner))
    other = Graph()
    other.output(other.node("Loop", ["n", "c"], ["out"], "/Loop", body=body))
    g = new()
    g.input("c")
    g.input("n")
    g.init("outer.weight", [2, 2, 1, 1])
    g.init("last.weight", [2, 2, 1, 1])
    y = g.node("If", ["c"], ["y"], "/If", else_branch=other, then_branch=then)
    g.output(g.node("Conv", [y, "last.weight"], ["z"], "/last/Conv"))
    save("branches.onnx", g)


# ---- what stands around a layer ----


def around():
    g = new()
    n = 0

    def conv(name, data="x", bias=None, out=3):
        w = g.init(name + ".weight", [out, 2, 1, 1])
        ins = [data, w] + ([bias] if bias else [])
        return g.node("Conv", ins, [name + "_y"], name)

    def bn(name, data, **attrs):
        ins = [data] + [g.init(name + s, [3]) for s in ("s", "b", "m", "v")]
        return g.node("BatchNormalization", ins, [name + "_y"], name, **attrs)

    g.output(g.node("Relu", [bn("bn1", conv("bn"), epsilon=0.5)], ["o1"]))
    g.output(bn("bn2", conv("training"), training_mode=1))
    y = conv("bn_shared")
    g.output(bn("bn3", y), g.node("Neg", [y], ["o3"]))
    g.init("b1", [1, 3, 1, 1])
    y = g.node("Add", [conv("add"), "b1"], ["o4"], "add_node")
    g.output(g.node("Sigmoid", [bn("bn4", y)], ["o5"]))
    g.init("b2", [3, 1, 1])
    g.output(g.node("Add", ["b2", conv("add_first")], ["o6"], "add_2"))
    g.init("b3", [3])
    g.output(g.node("Add", [conv("add_last_axis"), "b3"], ["o7"], "add_3"))
    g.init("b5", [1, 1, 3, 1])
    g.output(g.node("Add", [conv("add_height"), "b5"], ["o11"], "add_5"))
    g.init("b4", [3])
    y = conv("own_bias", bias="b4")
    g.output(g.node("Add", [y, "b2"], ["o8"], "add_4"))
    y = conv("graph_output")
    g.output(y, g.node("Relu", [y], ["o9"]))
    f = g.node("Flatten", ["x"], ["f"], "/Flatten")
    g.init("mm.weight", [4, 3])
    y = g.node("MatMul", [f, "mm.weight"], ["mm_y"], "mm")
    y = g.node("Add", [y, "b3"], ["mm_b"], "mm_add")
    g.output(g.node("Tanh", [y], ["o10"]))
    r = g.node("Relu", ["x"], ["r"], "in_relu")
    g.output(conv("after_relu", r))
    p = g.node("MaxPool", [r], ["p"], "in_pool")
    g.output(conv("after_pool", p))
    save("around.onnx", g)


def edges():
    g = new()

    def conv(name, data="x"):
        w = g.init(name + ".weight", [2, 2, 1, 1])
        return g.node("Conv", [data, w], [name + "_y"], name)

    def n(op, data, *more, **attrs):
        n.count += 1
        ins = [data] + list(more)
        return g.node(op, ins, ["t%d" % n.count], "n%d" % n.count, **attrs)

    n.count = 0

    y = n("Relu", conv("relu"))
    for op in ("MaxPool", "Transpose", "Squeeze", "Unsqueeze", "Identity",
               "Dropout", "Flatten", "Reshape"):
        y = n(op, y)
    y = conv("relu_to", y)
    # limits of Clip: attributes, constants, through Cast, computed
    y = conv("clip_old_to", n("Clip", y, min=0.0, max=6.0))
    g.init("zero", [], [0.0])
    g.init("six", [], [6])
    g.node("Constant", [], ["five"], "", value=tensor("", [], [5], type=INT64))
    five = g.node("Cast", ["five"], ["five_f"], "cast", to=1)
    y = n("Clip", n("Clip", y, "zero", five), "zero", "six")
    y = conv("clip_twice_to", y)
    y = conv("clip_max_only_to", n("Clip", y, "", "six"))
    y = conv("clip_below", n("Clip", y, min=-1.0, max=1.0))
    y = conv("clip_computed", n("Clip", y, "zero", n("Neg", "six")))
    # padding
    g.init("pads", [8], [0] * 8, type=INT64)
    g.init("one", [], [1.0])
    y = conv("pad_to", n("Pad", y, "pads"))
    y = conv("pad_one", n("Pad", y, "pads", "one"))
    y = conv("pad_edge", n("Pad", y, "pads", mode="edge"))
    # branches
    y = conv("fork", y)
    a, b = conv("left", n("Relu", y)), conv("right", y)
    y = conv("join", n("Add", a, b))
    y = n("AveragePool", y, kernel_shape=[2, 2])
    y = conv("pool_to", y)
    # a side output that is used, and a node that reads data as weights
    g.node("Dropout", [y], ["drop", "mask"], "drop")
    conv("after_mask", "drop")
    g.output("mask", "after_mask_y")
    save("edges.onnx", g)


def constants():
    """A limit of 6 in every form a constant has, and axes in two forms."""
    g = new()
    g.init("zero", [], [0.0])
    limits = {
        "f64": lambda: g.init("l_f64", [], [6], type=DOUBLE),
        "f16": lambda: g.init("l_f16", [], [6], type=FLOAT16),
        "i32": lambda: cast(g.init("l_i32", [], [6], type=INT32)),
        "int": lambda: cast(constant("l_int", value_int=6)),
        "ints": lambda: cast(constant("l_ints", value_ints=[6])),
        "float": lambda: constant("l_float", value_float=6.0),
        # what exporters write for no limit
        "lowest": lambda: ("lowest_f32", "l_f6"),
        "infinite": lambda: ("zero", "l_inf"),
        # no limit that can be known, or that keeps the scale
        "negative": lambda: ("zero", "l_minus"),
        "two": lambda: cast(constant("l_two", value_ints=[6, 6])),
        "floats": lambda: constant("l_floats", value_floats=b""),
        "bool": lambda: cast(g.init("l_bool", [], data=raw(9, b"\1"),
                                    type=BOOL)),
    }

    def constant(name, **how):
        return g.node("Constant", [], [name], name, **how)

    def cast(name):
        return g.node("Cast", [name], [name + "_f"], name + "_cast", to=1)

    def conv(name, data):
        w = g.init(name + ".weight", [2, 2, 1, 1])
        return g.node("Conv", [data, w], [name + "_y"], name)

    y = conv("first", "x")
    g.init("lowest_f32", [], [-3.4028234663852886e38])
    g.init("l_f6", [], [6.0])
    g.init("l_inf", [], [float("inf")])
    g.init("l_minus", [], [-1.0])
    for name, make in limits.items():
        ends = make()
        ends = list(ends) if isinstance(ends, tuple) else ["zero", ends]
        c = g.node("Clip", [y] + ends, ["clip_" + name], "c_" + name)
        y = conv(name, c)
    # padding with a number that nobody knows
    g.init("pads", [8], [0] * 8, type=INT64)
    p = g.node("Neg", ["zero"], ["unknown"], "neg")
    y = conv("padded", g.node("Pad", [y, "pads", p], ["pad"], "pad"))
    # axis 0 before a convolution, axis 2, and one nobody knows
    for name, axes in ("axis0", [0]), ("axis2", [2]):
        a = constant(name + "_axes", value_ints=axes)
        u = g.node("Unsqueeze", [y, a], [name + "_u"], name + "_unsqueeze")
        g.output(conv(name, u))
    g.output(y)
    save("constants.onnx", g)


# ---- names ----


def names():
    g = new()

    def conv(name, weight, out):
        g.init(weight, [2, 2, 1, 1])
        g.output(g.node("Conv", ["x", weight], [out], name))

    conv("/layer1/layer1.0/conv1/Conv", "layer1.0.conv1.weight", "o1")
    conv("/layer1/layer1.1/conv1/Conv", "onnx::Conv_59", "o2")
    conv("plain", "kernel", "o3")
    conv("a/b/Conv", "kernel2", "o4")
    conv("", "unnamed_kernel", "o5")
    conv("", "prefix.weight", "o6")
    # two nodes of one name, and a path that is another node's name
    conv("twin", "t1", "o7")
    conv("twin", "t2", "o8")
    conv("/plain/Conv", "p1", "o9")
    # two layers under one path
    conv("/pair/Conv", "q1", "o10")
    conv("/pair/Conv_1", "q2", "o11")
    # pooling: Pad and AveragePool share a path
    p = g.node("Pad", ["x"], ["pp"], "/pool/Pad")
    g.output(
        g.node("AveragePool", [p], ["o12"], "/pool/AveragePool", kernel_shape=[2, 2])
    )
    g.output(g.node("Relu", ["x"], ["o13"], "/block/relu/Relu"))
    g.init("block.bn.weight", [2])
    ins = ["x", "block.bn.weight"] + [g.init("bn" + s, [2]) for s in "bmv"]
    g.output(g.node("BatchNormalization", ins, ["o14"], "/block/bn/BN"))
    save("names.onnx", g)


# ---- faults ----


def faults():
    def one_conv(dims=(2, 2, 1, 1), name="conv", **attrs):
        g = new()
        g.init("w", dims)
        g.output(g.node("Conv", ["x", "w"], ["y"], name, **attrs))
        return g

    g = one_conv()
    g.node("Relu", ["x"], ["y"], "again")
    save("bad_duplicate.onnx", g)
    g = one_conv()
    g.init("w", [1])
    save("bad_duplicate_init.onnx", g)
    g = one_conv()
    g.node("Add", ["x", "nowhere"], ["z"], "lost")
    g.output("nothing")
    save("bad_missing.onnx", g)
    g = one_conv()
    g.node("Relu", ["s"], ["s"], "self")
    save("bad_self.onnx", g)
    g = one_conv()
    g.node("Relu", ["loop_b"], ["loop_a"], "before")
    g.node("Add", ["loop_a", "loop_c"], ["loop_b"], "in_cycle")
    g.node("Relu", ["loop_b"], ["loop_c"], "in_cycle_2")
    save("bad_cycle.onnx", g)
    g = one_conv()
    g.nodes.reverse()
    g.nodes.insert(0, g.nodes.pop())
    y = g.node("Relu", ["late"], ["early"], "unsorted")
    g.node("Relu", ["x"], ["late"], "late_node")
    save("unsorted.onnx", g)
    save("bad_groups.onnx", one_conv((3, 2, 1, 1), group=2))
    save("bad_groups_0.onnx", one_conv(group=0))
    save("bad_name.onnx", one_conv(name="a\0b"))
    save("bad_empty_weights.onnx", one_conv((0, 2, 1, 1)))
    for name, dims, data in (
        ("bad_data_short", [2, 2, 1, 1], raw(9, b"12345678")),
        ("bad_data_none", [2, 2, 1, 1], b""),
        ("bad_list_short", [2, 2, 1, 1], raw(4, b"12345678")),
        ("bad_dims", [2, -2, 1, 1], raw(9, b"12345678")),
        ("bad_dims_large", [1 << 40, 1 << 40, 1, 1], raw(9, b"12345678")),
        ("bad_rank", [1] * 9, raw(9, b"1234")),
    ):
        g = new()
        g.init("w", dims, data=data)
        g.output(g.node("Conv", ["x", "w"], ["y"], "conv"))
        save(name + ".onnx", g)
    g = new()
    g.init("w", [2, 2, 1, 1])
    g.init("b", [3])
    g.output(g.node("Conv", ["x", "w", "b"], ["y"], "conv"))
    save("bad_bias.onnx", g)
    with open(os.path.join(HERE, "bad_no_graph.onnx"), "wb") as f:
        f.write(num(1, 8) + raw(2, "make_models"))


def faulty_weights():
    """Weights that cannot become codes: tests/test_weights.sh."""
    nan, inf = float("nan"), float("inf")
    g = new()

    def conv(name, values=None, bias=None, **more):
        w = g.init(name + ".weight", [2, 2, 1, 1], values, **more)
        ins = ["x", w] + ([g.init(name + ".bias", [2], bias)] if bias else [])
        return g.node("Conv", ins, [name + "_y"], name)

    def bn(name, values, *vectors):
        ins = [conv(name, values)]
        for part, v in zip("gbmv", vectors):
            ins.append(g.init(name + "." + part, [len(v)], v))
        g.output(g.node("BatchNormalization", ins, [name + "_z"], name + "_bn",
                        epsilon=0.0))

    g.output(conv("nan", [1, nan, 1, 1]))
    g.output(conv("inf", [1, 1, -inf, 1]))
    g.output(conv("bias_nan", None, [1, nan]))
    g.output(conv("integers", [1, 2, 3, 4], type=INT32))
    bn("short", None, [1] * 3, [0] * 2, [0] * 2, [1] * 2)
    bn("no_variance", None, [1] * 2, [0] * 2, [0] * 2, [0, 1])
    bn("folds_to_inf", [1e30] * 4, [1e20] * 2, [0] * 2, [0] * 2, [1] * 2)
    g.output(conv("sound"))
    save("faulty_weights.onnx", g)


def pools():
    """A pool, which has no weights, behind weights that are all 0."""
    g = new()
    g.init("flat.weight", [2, 2, 1, 1], [0.0] * 4)
    y = g.node("Conv", ["x", "flat.weight"], ["y"], "flat")
    g.output(g.node("AveragePool", [y], ["z"], "pool", kernel_shape=[2, 2]))
    save("pools.onnx", g)


def empty():
    g = Graph()
    g.input("image", [4, 1, 8, 8])
    g.output("image")
    save("empty.onnx", g)


def batch():
    """Four images in a batch: tests/resolve/calibration_size.case."""
    g = Graph()
    g.input("x", [4, 2, 8, 8])
    g.init("conv.weight", [2, 2, 1, 1])
    g.output(g.node("Conv", ["x", "conv.weight"], ["y"], "/conv/Conv"))
    save("batch.onnx", g)


for make in (weights, shared, forms, external, refused, branches, around, edges,
             constants, names, faults,
             faulty_weights, pools, empty, batch):
    make()
