#!/usr/bin/python3
"""Trains the digits network and writes model.onnx and the image headers.

Needs numpy, onnx and scikit-learn (Debian: python3-sklearn python3-onnx).
Nothing else in the example needs it: its output is kept in this folder.
Run calibrate.py afterwards.

The network, on 8x8 images of 17 grey levels (pixel / 16):

    conv1  3x3, 1 -> 16, BatchNorm, ReLU              8x8
    dw     3x3 depthwise, 16, stride 2, BatchNorm, ReLU   4x4
    pw     1x1, 16 -> 24, BatchNorm, ReLU             4x4
    fc     384 -> 10
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one order of summation

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 1797
TEST = 500  # images held out
EPOCHS = 120
BATCH = 32
RATE = 0.004
F = np.float32


class Conv:
    """Convolution without bias, NCHW; depthwise when groups > 1."""

    def __init__(self, rng, name, cin, cout, k, stride=1, groups=1):
        self.name, self.k, self.stride, self.groups = name, k, stride, groups
        fan_in = cin // groups * k * k
        self.p = {"weight": rng.normal(0, (2 / fan_in) ** 0.5, (
            cout, cin // groups, k, k)).astype(F)}

    def taps(self, x):
        """The k * k shifted views of the padded input x."""
        pad = self.k // 2
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        s = self.stride
        n = (x.shape[2] - self.k) // s + 1
        for i in range(self.k):
            for j in range(self.k):
                yield i, j, np.s_[:, :, i:i + s * n:s, j:j + s * n:s], x

    def forward(self, x, train):
        w, y = self.p["weight"], 0
        self.x = x
        for i, j, at, xp in self.taps(x):
            if self.groups > 1:
                y = y + xp[at] * w[:, 0, i, j][:, None, None]
            else:
                y = y + np.einsum("nchw,oc->nohw", xp[at], w[:, :, i, j],
                                  optimize=True)
        return y

    def backward(self, g):
        w, gx = self.p["weight"], None
        gw = np.zeros_like(w)
        for i, j, at, xp in self.taps(self.x):
            if gx is None:
                gx = np.zeros_like(xp)
            if self.groups > 1:
                gw[:, 0, i, j] = (xp[at] * g).sum((0, 2, 3))
                gx[at] += g * w[:, 0, i, j][:, None, None]
            else:
                gw[:, :, i, j] = np.einsum("nchw,nohw->oc", xp[at], g,
                                           optimize=True)
                gx[at] += np.einsum("nohw,oc->nchw", g, w[:, :, i, j],
                                    optimize=True)
        self.g = {"weight": gw}
        pad = self.k // 2
        return gx[:, :, pad:gx.shape[2] - pad, pad:gx.shape[3] - pad]


class BatchNorm:
    EPS = F(1e-5)
    MOMENTUM = F(0.1)

    def __init__(self, name, c):
        self.name = name
        self.p = {"weight": np.ones(c, F), "bias": np.zeros(c, F)}
        self.mean, self.var = np.zeros(c, F), np.ones(c, F)

    def forward(self, x, train):
        mean, var = self.mean, self.var
        if train:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
            n = x.size // x.shape[1]
            self.mean += self.MOMENTUM * (mean - self.mean)
            self.var += self.MOMENTUM * (var * F(n / (n - 1)) - self.var)
        col = np.s_[:, None, None]
        self.inv = 1 / np.sqrt(var + self.EPS)
        self.xhat = (x - mean[col]) * self.inv[col]
        return self.xhat * self.p["weight"][col] + self.p["bias"][col]

    def backward(self, g):
        col, axes = np.s_[:, None, None], (0, 2, 3)
        self.g = {"weight": (g * self.xhat).sum(axes), "bias": g.sum(axes)}
        g = g * self.p["weight"][col]
        return self.inv[col] * (g - g.mean(axes)[col] - self.xhat *
                                (g * self.xhat).mean(axes)[col])


class Relu:
    p = {}

    def __init__(self, name):
        self.name = name

    def forward(self, x, train):
        self.on = x > 0
        return x * self.on

    def backward(self, g):
        return g * self.on


class Flatten:
    p = {}
    name = "flatten"

    def forward(self, x, train):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, g):
        return g.reshape(self.shape)


class Linear:
    def __init__(self, rng, name, cin, cout):
        self.name = name
        self.p = {"weight": rng.normal(0, (1 / cin) ** 0.5, (
            cout, cin)).astype(F), "bias": np.zeros(cout, F)}

    def forward(self, x, train):
        self.x = x
        return x @ self.p["weight"].T + self.p["bias"]

    def backward(self, g):
        self.g = {"weight": g.T @ self.x, "bias": g.sum(0)}
        return g @ self.p["weight"]


def make_net(rng):
    return [Conv(rng, "conv1", 1, 16, 3), BatchNorm("bn1", 16), Relu("relu1"),
            Conv(rng, "dw", 16, 16, 3, stride=2, groups=16),
            BatchNorm("bn2", 16), Relu("relu2"),
            Conv(rng, "pw", 16, 24, 1), BatchNorm("bn3", 24), Relu("relu3"),
            Flatten(), Linear(rng, "fc", 384, 10)]


def run(net, x, train=False):
    for layer in net:
        x = layer.forward(x, train)
    return x


def shifted(rng, x):
    """x with each image moved by up to one pixel, against overfitting."""
    y = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    at = rng.integers(0, 3, (len(x), 2))
    return np.stack([img[:, i:i + 8, j:j + 8] for img, (i, j) in zip(y, at)])


def loss_gradient(logits, labels):
    """Of the mean cross entropy, labels smoothed by 0.1."""
    e = np.exp(logits - logits.max(1, keepdims=True))
    want = np.full(logits.shape, 0.01, F)
    want[np.arange(len(labels)), labels] += F(0.9)
    return ((e / e.sum(1, keepdims=True) - want) / len(labels)).astype(F)


class Adam:
    def __init__(self, net):
        self.t = 0
        self.slots = [(layer, key, np.zeros_like(p), np.zeros_like(p))
                      for layer in net for key, p in layer.p.items()]

    def step(self, rate):
        self.t += 1
        rate *= (1 - 0.999 ** self.t) ** 0.5 / (1 - 0.9 ** self.t)
        for layer, key, m, v in self.slots:
            g = layer.g[key]
            if key == "weight" and not isinstance(layer, BatchNorm):
                g = g + F(1e-4) * layer.p[key]
            m += F(0.1) * (g - m)
            v += F(0.001) * (g * g - v)
            layer.p[key] -= F(rate) * m / (np.sqrt(v) + F(1e-8))


def train(net, x, labels, rng):
    adam = Adam(net)
    steps = EPOCHS * (len(x) // BATCH)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(x))
        for at in range(0, len(x) - BATCH + 1, BATCH):
            pick = order[at:at + BATCH]
            g = loss_gradient(run(net, shifted(rng, x[pick]), True),
                              labels[pick])
            for layer in reversed(net):
                g = layer.backward(g)
            adam.step(RATE * (1 + np.cos(np.pi * adam.t / steps)) / 2)


def onnx_model(net):
    """The network as PyTorch would export it with BatchNorm left alone."""
    nodes, weights, at = [], [], "input"

    def tensor(name, value):
        weights.append(numpy_helper.from_array(value, name))
        return name

    def node(op, inputs, layer, **attributes):
        nonlocal at
        at = f"/{layer.name}/{op}_output_0"
        nodes.append(helper.make_node(
            op, inputs, [at], f"/{layer.name}/{op}", **attributes))

    for layer in net:
        own = [tensor(f"{layer.name}.{k}", p) for k, p in layer.p.items()]
        if isinstance(layer, Conv):
            k, pad = layer.k, layer.k // 2
            node("Conv", [at] + own, layer, dilations=[1, 1],
                 group=layer.groups, kernel_shape=[k, k], pads=[pad] * 4,
                 strides=[layer.stride] * 2)
        elif isinstance(layer, BatchNorm):
            own += [tensor(f"{layer.name}.running_mean", layer.mean),
                    tensor(f"{layer.name}.running_var", layer.var)]
            node("BatchNormalization", [at] + own, layer,
                 epsilon=float(layer.EPS), momentum=0.9)
        elif isinstance(layer, Relu):
            node("Relu", [at], layer)
        elif isinstance(layer, Flatten):
            node("Flatten", [at], layer, axis=1)
        else:
            node("Gemm", [at] + own, layer, alpha=1.0, beta=1.0, transB=1)
    nodes[-1].output[0] = "output"
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "digits", [value("input", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [value("output", TensorProto.FLOAT, ["N", 10])], weights)
    model = helper.make_model(
        graph, producer_name="examples/digits/train.py", ir_version=8,
        opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model, full_check=True)
    return model


def write_images(name, images, labels, extra=""):
    """A C header: label and 64 pixels, one character '0'..'9', 'a'..'g'."""
    grey = "0123456789abcdefg"
    upper = name.upper()
    with open(os.path.join(HERE, f"{name}.h"), "w") as f:
        f.write(f"""/* {len(images)} handwritten digits, written by train.py.
 *
 * Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, UCI
 * Machine Learning Repository, CC BY 4.0; taken from scikit-learn. See
 * README.md. A row is the label and 8 x 8 pixels, row by row, of 17 grey
 * levels 0..9, a..g. */
#ifndef DIGITS_{upper}_H
#define DIGITS_{upper}_H

#include "image.h"

#define {upper}_COUNT {len(images)}
{extra}
static const struct digits_image {name}[{upper}_COUNT] = {{
""")
        for image, label in zip(images, labels):
            text = "".join(grey[int(p)] for p in image.ravel())
            f.write(f'    {{{label}, "{text}"}},\n')
        f.write("};\n\n#endif\n")


def main():
    digits = load_digits()
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(digits.images))
    test, rest = order[:TEST], order[TEST:]
    x = (digits.images[:, None] / 16).astype(F)
    net = make_net(rng)
    train(net, x[rest], digits.target[rest], rng)
    hits = [int((run(net, x[part]).argmax(1) == digits.target[part]).sum())
            for part in (rest, test)]
    print(f"training {hits[0]}/{len(rest)}, test {hits[1]}/{TEST} "
          f"({100 * hits[1] / TEST:.1f} %)")
    onnx.save(onnx_model(net), os.path.join(HERE, "model.onnx"))
    write_images("train_set", digits.images[rest], digits.target[rest])
    write_images("test_set", digits.images[test], digits.target[test], f"""
/* Images that the float network classifies correctly. */
#define TEST_SET_FLOAT_CORRECT {hits[1]}
""")


if __name__ == "__main__":
    main()
