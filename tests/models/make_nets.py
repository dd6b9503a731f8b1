#!/usr/bin/env python3
"""Writes the small networks of tests/test_lower_weights.c, test_joins.c and
test_weights.sh into its own folder, with the helpers of make_models.py."""
import struct

from make_models import Graph, save


def numbers(count, seed, scale=1.0):
    """Numbers in [-scale, scale] that a binary32 holds exactly."""
    out = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        out.append(scale * ((seed >> 8) % 2001 - 1000) / 1024.0)
    return out


def size(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


class Net(Graph):
    def __init__(self, dims):
        super().__init__()
        self.input("x", dims)
        self.count = 0

    def weights(self, name, dims, scale=1.0, values=None):
        self.count += 1
        if values is None:
            values = numbers(size(dims), self.count, scale)
        return self.init(name, dims, values)

    def op(self, op, *ins, **attrs):
        self.count += 1
        return self.node(op, list(ins), ["t%d" % self.count],
                         "n%d" % self.count, **attrs)

    def layer(self, op, name, data, dims, bias=None, **attrs):
        ins = [data, self.weights(name + ".weight", dims)]
        if bias:
            ins.append(self.weights(name + ".bias", [bias]))
        return self.node(op, ins, [name + "_y"], name, **attrs)


# ---- every layout of weights ----


def layouts():
    g = Net([1, 4, 6, 6])
    y = g.layer("Conv", "conv", "x", [6, 4, 3, 2], 6)
    y = g.layer("Conv", "depthwise", y, [6, 1, 3, 3], group=6)
    y = g.layer("Conv", "grouped", y, [4, 3, 1, 1], 4, group=2)
    y = g.layer("ConvTranspose", "deconv", y, [4, 6, 2, 2], 6)
    y = g.layer("ConvTranspose", "deconv_grouped", y, [6, 2, 2, 2], 4, group=2)
    y = g.op("AveragePool", y, kernel_shape=[2, 2])
    y = g.op("Flatten", y)
    y = g.layer("Gemm", "gemm_oi", y, [8, 4], 8, transB=1)
    y = g.layer("Gemm", "gemm_io", y, [8, 6], 6)
    y = g.layer("MatMul", "plain", y, [6, 4])
    y = g.layer("MatMul", "one_bias", y, [4, 4])
    g.output(g.op("Add", y, g.weights("one", [1], values=[0.75])))
    save("layouts.onnx", g)


# ---- BatchNorm, and the same net with it folded in ----


def bn_values(channels, seed):
    gamma = numbers(channels, seed, 1.5)
    beta = numbers(channels, seed + 1)
    mean = numbers(channels, seed + 2)
    var = [abs(v) + 0.25 for v in numbers(channels, seed + 3)]
    return gamma, beta, mean, var


def root(v):
    """sqrt of a binary32, rounded to binary32 (binary64 is wide enough)."""
    return f32(f32(v) ** 0.5)


def with_bn(name, folded):
    g = Net([1, 4, 6, 6])
    y = "x"
    seed = 100
    for layer, dims, group, bias in (("conv", [6, 4, 3, 3], 1, True),
                                     ("depthwise", [6, 1, 3, 3], 6, False),
                                     ("grouped", [8, 3, 1, 1], 2, True)):
        out, per = dims[0], size(dims[1:])
        w = [f32(v) for v in numbers(size(dims), seed)]
        b = [f32(v) for v in numbers(out, seed + 1)] if bias else [0.0] * out
        gamma, beta, mean, var = ([f32(v) for v in a]
                                  for a in bn_values(out, seed + 2))
        seed += 10
        ins = [y]
        if folded:
            factor = [f32(gamma[c] / root(var[c] + f32(1e-5)))
                      for c in range(out)]
            w = [f32(v * factor[i // per]) for i, v in enumerate(w)]
            b = [f32(f32(f32(b[c] - mean[c]) * factor[c]) + beta[c])
                 for c in range(out)]
        ins.append(g.init(layer + ".weight", dims, w))
        if bias or folded:
            ins.append(g.init(layer + ".bias", [out], b))
        y = g.node("Conv", ins, [layer + "_y"], layer, group=group)
        if not folded:
            four = [g.init(layer + "_bn" + s, [out], v) for s, v in
                    zip(("g", "b", "m", "v"), (gamma, beta, mean, var))]
            y = g.node("BatchNormalization", [y] + four, [layer + "_n"],
                       layer + "_bn")
        y = g.op("Relu", y)
    g.output(y)
    save(name, g)


# ---- numbers that do not fit ----


def overflows():
    g = Net([1, 600])
    y = g.layer("Gemm", "wide", "x", [2, 600], 2, transB=1)
    b = g.init("huge.bias", [3], [0.5, 1e9, 0.0])
    y = g.node("Gemm", [y, g.weights("huge.weight", [3, 2]), b], ["huge_y"],
               "huge", transB=1)
    b = g.init("near.bias", [2], [0.0, 2147483000.0])
    y = g.node("Gemm", [y, g.weights("near.weight", [2, 3]), b], ["near_y"],
               "near", transB=1)
    g.output(y)
    save("overflows.onnx", g)


# ---- ways from layer to layer ----


def joins():
    g = Net([1, 2, 8, 8])

    def conv(name, data, ins=2, out=2):
        return g.layer("Conv", name, data, [out, ins, 1, 1], out)

    stem = g.op("Relu", conv("stem", "x"))
    a = conv("a", stem)
    b = conv("b", stem)  # the same tensor
    y = g.op("Relu", g.op("Add", a, b))
    c = conv("c", y)
    g.output(conv("limited", g.op("Clip", y, min=0.0, max=1.0)))
    y = g.op("Relu", g.op("Add", g.op("Add", c, y), b))  # three terms
    d = conv("d", y)
    y = g.op("Concat", d, g.op("MaxPool", y, kernel_shape=[1, 1]), axis=1)
    e = conv("e", y, 4)
    y = g.op("Relu", g.op("Add", g.op("Clip", e, min=0.0, max=6.0), d))
    f = conv("f", g.op("Sigmoid", y))
    y = g.op("Clip", f, min=0.0, max=6.0)
    y = g.op("Flatten", g.op("GlobalAveragePool", y))
    y = g.layer("Gemm", "fc", y, [4, 2], 4, transB=1)
    y = g.layer("Gemm", "tanh", g.op("Tanh", y), [4, 4], transB=1)
    # what stays in real numbers
    y = g.layer("Gemm", "softmax", g.op("Softmax", y), [4, 4], transB=1)
    y = g.op("Mul", y, g.weights("half", [1], values=[0.5]))
    y = g.layer("Gemm", "scaled", y, [4, 4], transB=1)
    y = g.op("Add", y, "x2")
    y = g.layer("Gemm", "other", y, [4, 4], transB=1)
    y = g.op("Tanh", g.op("Tanh", y))
    g.input("x2", [1, 4])
    g.output(g.layer("Gemm", "twice", y, [4, 4], transB=1))
    save("joins.onnx", g)


layouts()
with_bn("bn.onnx", False)
with_bn("bn_folded.onnx", True)
overflows()
joins()
