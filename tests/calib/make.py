#!/usr/bin/python3
"""Makes data/ and record.expected here: inputs of the layers of
examples/digits for eight training images, in two batches of four and in the
forms that .npy files have, and what quant.cfg makes of them.

Needs numpy and onnx. The search is the obvious one: all samples quantized once
for each candidate, as in examples/digits/calibrate.py.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../examples/digits"))
import calibrate as digits  # noqa: E402  (sets up one order of summation)
import numpy as np  # noqa: E402

F = np.float32
TYPES = {"conv1": ("<f4", ">f4"), "dw": ("<f2", "<f4"), "pw": (">f2", "<f4"),
         "fc": ("<f4", "<f4")}

# What quant.cfg here resolves to.
RECIPE = {
    "conv1": dict(bits=8, asym=True, start=0.7, end=1.3, step=0.01, p=0.9999),
    "dw": dict(bits=8, asym=False, start=0.7, end=1.3, step=0.01, p=0.99),
    "pw": dict(bits=4, asym=True, start=0.7, end=1.3, step=0.01, p=0.999999),
    "fc": dict(bits=16, asym=True, start=0.8, end=1.2, step=0.02, p=0.999999),
}


def ifmr(x, bits, asym, start, end, step, p):
    x = np.sort(x.ravel())
    half, levels = 2 ** (bits - 1), 2 ** bits - 1
    k = 1 if 1.0 - p < digits.EPS else x.size - int(p * x.size)
    high, low = max(F(0), x[-k]), min(F(0), x[k - 1])
    divisor = F(half if abs(high) < abs(low) else half - 1)
    if not asym:
        high = max(abs(high), abs(low))
    best = None
    for i in range(int(np.ceil((end - start) / step))):
        clip = F(start + i * step) * high
        s = (clip - low) / F(levels) if asym else clip / divisor
        floor = low if asym else -clip
        y = np.rint(np.clip(x, floor, clip) / s) * s
        loss = np.square(y - x, dtype=F).mean(dtype=float)
        if best is None or loss < best[0]:
            best = loss, s
    s = best[1]
    return s, -int(np.rint(low / s)) - half if asym else 0


def entry(name, r, scale_d, offset_d, scale_w, skip):
    lines = [f"scale_d: {scale_d:.9g}", f"offset_d: {offset_d}"]
    lines += [f"scale_w: {s:.9g}" for s in scale_w]
    lines += ["offset_w: 0" for _ in scale_w]
    lines += ["skip_fusion: true"] if skip else []
    lines += [f'act_type: "INT{r["bits"]}"', 'wts_type: "INT8"']
    body = "".join(f"    {line}\n" for line in lines)
    return f'record {{\n  key: "{name}"\n  value {{\n{body}  }}\n}}\n'


def main():
    x = digits.calibration_images()[:8]
    record = []
    for name, layer in digits.read_model().items():
        folder = os.path.join(HERE, "data", name)
        os.makedirs(folder, exist_ok=True)
        halves = []
        for i, form in enumerate(TYPES[name]):
            half = x[4 * i:4 * i + 4].astype(form)
            if name == "pw" and i:
                half = np.asfortranarray(half)
            np.save(os.path.join(folder, f"{i}.npy"), half)
            halves.append(half.astype(F).ravel())
        r = RECIPE[name]
        scale_w, _ = digits.arq(layer["w"], name != "fc")
        record.append(entry(name, r, *ifmr(np.concatenate(halves), **r),
                            scale_w, False))
        x = digits.forward(layer, x)
    with open(os.path.join(HERE, "record.expected"), "w") as f:
        f.write("".join(record))


if __name__ == "__main__":
    main()
