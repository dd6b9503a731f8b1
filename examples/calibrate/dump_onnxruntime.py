#!/usr/bin/env python3
"""Leaves the inputs of an ONNX model's layers where quantc calibrate finds them.

    dump_onnxruntime.py MODEL.onnx DIR BATCH.npy...    one input, one batch a file
"""
import json
import os
import sys
import numpy as np
import onnx
import onnxruntime

OPS = {"Conv", "ConvTranspose", "Gemm", "MatMul", "AveragePool"}
path, folder, batches = sys.argv[1], sys.argv[2], sys.argv[3:]
model = onnx.load(path)
source = {n.name: n.input[0] for n in model.graph.node if n.op_type in OPS}
tensors = list(dict.fromkeys(source.values()))
have = {v.name for v in [*model.graph.input, *model.graph.output]}
model.graph.output.extend(onnx.ValueInfoProto(name=t) for t in tensors if t not in have)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
feed = session.get_inputs()[0].name
os.makedirs(folder, exist_ok=True)
for b, file in enumerate(batches):
    x = np.load(file)
    for i, t in enumerate(tensors):
        y = x if t == feed else session.run([t], {feed: x})[0]
        np.save(os.path.join(folder, f"{i}.{b}.npy"), y.astype(np.float32))
index = {n: [f"{tensors.index(t)}.{b}.npy" for b in range(len(batches))] for n, t in source.items()}
json.dump(index, open(os.path.join(folder, "index.json"), "w"), indent=1)
