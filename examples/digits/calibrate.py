#!/usr/bin/python3
"""Computes record.txt, weights.h and float_weights.h from model.onnx.

Needs numpy and onnx (Debian: python3-onnx). Follows AMCT's definitions: ARQ
for the weights, IFMR for the inputs of every layer, BatchNorm folded first.
The inputs are those of the first CALIBRATION images of train_set.h.

    calibrate.py [DIR]    with DIR, also leaves the layer inputs there as .npy
"""
import os
import re
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one order of summation

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
CALIBRATION = 128
F = np.float32
EPS = F(2.0 ** -23)

# What quant.cfg resolves to: `quantc explain` shows the same. The override of
# fc replaces common_config as a whole, so its percentile is the default; only
# asymmetric falls back to common_config.
COMMON = dict(channel_wise=True, start=0.7, end=1.3, step=0.01,
              percentile=0.9999)
RECIPE = {"conv1": COMMON, "dw": COMMON, "pw": COMMON,
          "fc": dict(channel_wise=False, start=0.8, end=1.2, step=0.02,
                     percentile=0.999999)}

WEIGHTS_COMMENT = """Weights and biases of the digits network as integers,
 * written by calibrate.py from model.onnx with the factors of record.txt.
 *
 * Weights: codes of ARQ, in the order of the model (output channel first).
 * Biases: in units of scale_w * scale_d, so they add to the accumulator."""

FLOAT_WEIGHTS_COMMENT = """Weights and biases of the digits network in floating
 * point, BatchNorm folded, written by calibrate.py from model.onnx. Only host
 * programs use them."""


def read_model():
    """{layer: dict(w, b, stride, pad, group, relu)}, BatchNorm folded."""
    graph = onnx.load(os.path.join(HERE, "model.onnx")).graph
    tensor = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    layers, layer = {}, None
    for node in graph.node:
        at = {a.name: onnx.helper.get_attribute_value(a)
              for a in node.attribute}
        if node.op_type in ("Conv", "Gemm"):
            w = tensor[node.input[1]]
            b = [tensor[n] for n in node.input[2:]] or [np.zeros(len(w), F)]
            layer = dict(w=w, b=b[0], stride=at.get("strides", [1])[0],
                         pad=at.get("pads", [0])[0], relu=False,
                         group=at.get("group", 1))
            layers[node.input[1].rsplit(".", 1)[0]] = layer
        elif node.op_type == "BatchNormalization":
            gamma, beta, mean, var = (tensor[n] for n in node.input[1:])
            gain = gamma / np.sqrt(var + F(at["epsilon"]))
            layer["w"] = layer["w"] * gain.reshape(-1, 1, 1, 1)
            layer["b"] = (layer["b"] - mean) * gain + beta
        elif node.op_type == "Relu":
            layer["relu"] = True
    return layers


def forward(layer, x):
    w, b = layer["w"], layer["b"]
    if w.ndim == 2:
        return x.reshape(len(x), -1) @ w.T + b
    k, s, pad = w.shape[2], layer["stride"], layer["pad"]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    n = (x.shape[2] - k) // s + 1
    y = np.zeros((len(x), len(w), n, n), F)
    for i in range(k):
        for j in range(k):
            v = x[:, :, i:i + s * n:s, j:j + s * n:s]
            if layer["group"] > 1:
                y += v * w[:, 0, i, j][:, None, None]
            else:
                y += np.einsum("nchw,oc->nohw", v, w[:, :, i, j],
                               optimize=True)
    y += b[:, None, None]
    return np.maximum(y, 0) if layer["relu"] else y


def arq(w, channel_wise):
    """Symmetric scale per row, or one for all; and the codes."""
    rows = w.reshape(len(w) if channel_wise else 1, -1)
    high, low = rows.max(1), rows.min(1)
    width = np.maximum(abs(high), abs(low))
    scale = width / np.where(abs(high) < abs(low), F(128), F(127))
    scale = np.where(scale < EPS, F(1), scale)
    codes = np.clip(np.rint(rows / scale[:, None]), -128, 127)
    return scale, codes.reshape(w.shape).astype(int)


def ifmr(x, start, end, step, percentile, **_):
    """Scale and zero point with the smallest squared error, asymmetric."""
    x = np.sort(x.ravel())
    k = 1 if 1.0 - percentile < EPS else x.size - int(percentile * x.size)
    high, low = max(F(0), x[-k]), min(F(0), x[k - 1])
    count = int(np.ceil((end - start) / step))
    best = None
    for i in range(count):
        clip = F(start + i * step) * high
        scale = (clip - low) / F(255)
        if scale < EPS:
            scale = F(1)
        y = np.rint(np.clip(x, low, clip) / scale) * scale
        loss = F(np.square(y - x, dtype=F).mean(dtype=float))
        if best is None or loss < best[0]:
            best = loss, scale
    scale = best[1]
    return scale, -int(np.rint(low / scale)) - 128


def calibration_images():
    grey = "0123456789abcdefg"
    text = open(os.path.join(HERE, "train_set.h")).read()
    rows = re.findall(r'"([0-9a-g]{64})"', text)[:CALIBRATION]
    x = np.array([[grey.index(c) for c in row] for row in rows], F)
    return (x / 16).reshape(-1, 1, 8, 8)


def record_entry(name, scale_d, offset_d, scale_w):
    lines = [f"scale_d: {scale_d:.9g}", f"offset_d: {offset_d}"]
    lines += [f"scale_w: {s:.9g}" for s in scale_w]
    lines += ["offset_w: 0" for _ in scale_w]
    lines += ['act_type: "INT8"', 'wts_type: "INT8"']
    body = "".join(f"    {line}\n" for line in lines)
    return f'record {{\n  key: "{name}"\n  value {{\n{body}  }}\n}}\n'


def c_array(kind, name, values, text=str):
    """`static const KIND NAME[n] = {...};` in lines of 80 columns."""
    out, line = [], "   "
    for v in np.ravel(values):
        item = f" {text(v)},"
        if len(line) + len(item) > 80:
            out.append(line)
            line = "   "
        line += item
    return (f"static const {kind} {name}[{np.size(values)}] = {{\n"
            + "\n".join(out + [line]) + "\n};\n")


def write_header(name, comment, arrays):
    guard = f"DIGITS_{name.upper()}_H"
    with open(os.path.join(HERE, f"{name}.h"), "w") as f:
        f.write(f"/* {comment} */\n#ifndef {guard}\n#define {guard}\n\n")
        if name == "weights":
            f.write("#include <stdint.h>\n\n")
        f.write("\n".join(arrays) + "\n#endif\n")


def float_text(v):
    text = f"{v:.9g}"
    return (text if re.search(r"[.e]", text) else text + ".0") + "f"


def main():
    x = calibration_images()
    record, codes, floats = [], [], []
    for name, layer in read_model().items():
        if len(sys.argv) > 1:
            np.save(os.path.join(sys.argv[1], f"{name}.npy"), x)
        scale_d, offset_d = ifmr(x, **RECIPE[name])
        scale_w, q = arq(layer["w"], RECIPE[name]["channel_wise"])
        bias = np.rint(layer["b"] / (scale_w * scale_d))
        assert np.all(abs(bias) < 2.0 ** 31)
        record.append(record_entry(name, scale_d, offset_d, scale_w))
        codes.append(c_array("int8_t", f"{name}_weight", q))
        codes.append(c_array("int32_t", f"{name}_bias", bias.astype(int)))
        floats.append(c_array("float", f"{name}_weight_f", layer["w"],
                              float_text))
        floats.append(c_array("float", f"{name}_bias_f", layer["b"],
                              float_text))
        x = forward(layer, x)
    with open(os.path.join(HERE, "record.txt"), "w") as f:
        f.write("".join(record))
    write_header("weights", WEIGHTS_COMMENT, codes)
    write_header("float_weights", FLOAT_WEIGHTS_COMMENT, floats)


if __name__ == "__main__":
    main()
