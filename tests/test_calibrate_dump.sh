#!/bin/sh
# The scripts of examples/calibrate that dump layer inputs, with the frameworks
# they are written for.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"

scripts=$top/examples/calibrate
digits=$top/examples/digits
# with MODULES: a python that has them
with() {
    for python in ${PYTHON:-} python3 /usr/bin/python3 "$BUILD/venv/bin/python"; do
        "$python" -c "import $1" 2>/dev/null && return
    done
    return 1
}
# The images of examples/digits that its record was made with, in two batches.
images() {
    "$python" - "$digits" "$1" <<'P'
import re, sys
import numpy as np
text = open(sys.argv[1] + "/train_set.h").read()
rows = re.findall(r'"([0-9a-g]{64})"', text)[:128]
x = np.array([["0123456789abcdefg".index(c) for c in r] for r in rows], "f4")
for i, half in enumerate(np.split((x / 16).reshape(-1, 1, 8, 8), 2)):
    np.save(f"{sys.argv[2]}/{i}.npy", half)
P
}
# near A B: the same record but for the last digits of floats
near() {
    grep -v '^ *#' "$1" | awk 'NR == FNR { want[NR] = $0; n = NR; next }
        { split($0, a, ": "); split(want[FNR], b, ": "); d = a[2] - b[2]
          if (a[1] != b[1] || d * d > 1e-12 * b[2] * b[2]) {
              print FNR ": " $0 " instead of " want[FNR]; bad = 1 } }
        END { exit bad || FNR != n }' "$2" -
}
short() { # less than 30 lines
    [ "$(wc -l <"$1")" -lt 30 ]
}
ok "dump_onnxruntime.py is short" short "$scripts/dump_onnxruntime.py"
ok "dump_pytorch.py is short" short "$scripts/dump_pytorch.py"

sed '1,/activation_offset/s/^activation_offset/batch_num : 2\n&/' \
    "$digits/quant.cfg" >"$work/quant.cfg"
calibrate() {
    "$QUANTC" calibrate "$work/quant.cfg" --model "$1" --data "$2" -o "$3" \
        --werror
}

if with 'onnx, onnxruntime, numpy'; then
    mkdir -p "$work/ort"
    images "$work/ort"
    ok "dump_onnxruntime.py" "$python" "$scripts/dump_onnxruntime.py" \
        "$digits/model.onnx" "$work/ort/dump" "$work/ort/0.npy" "$work/ort/1.npy"
    ok "its files calibrate" calibrate "$digits/model.onnx" "$work/ort/dump" \
        "$work/ort.txt"
    ok "to the record of the example" near "$work/ort.txt" "$digits/record.txt"
else
    skip 3 "dump_onnxruntime.py: no python with onnx and onnxruntime"
fi

if with 'torch, numpy'; then
    mkdir -p "$work/torch"
    images "$work/torch"
    cat >"$work/net.py" <<'P'
import sys
import numpy as np
import torch
from torch import nn
sys.path.insert(0, sys.argv[1])
from dump_pytorch import dump

torch.manual_seed(1)
net = nn.Sequential()
net.add_module("conv1", nn.Conv2d(1, 8, 3, padding=1))
net.add_module("relu1", nn.ReLU())
net.add_module("dw", nn.Conv2d(8, 8, 3, groups=8, bias=False))
net.add_module("relu2", nn.ReLU())
net.add_module("flat", nn.Flatten())
net.add_module("fc", nn.Linear(8 * 36, 10))
net.eval()
x = [torch.from_numpy(np.load(f)) for f in sys.argv[3:]]
torch.onnx.export(net, x[0], sys.argv[2] + "/net.onnx",
                  dynamic_axes={"input": {0: "n"}}, input_names=["input"])
dump(net, x, sys.argv[2] + "/dump")
# What every layer has seen, to compare the extremes with.
y = torch.cat(x)
with open(sys.argv[2] + "/expected", "w") as f:
    for name, m in net.named_children():
        if name in ("conv1", "dw", "fc"):
            f.write(f"{name} {y.numel()} {y.min():.6g} {y.max():.6g}\n")
        y = m(y)
P
    ok "dump_pytorch.py" "$python" "$work/net.py" "$scripts" "$work/torch" \
        "$work/torch/0.npy" "$work/torch/1.npy"
    ok "its files calibrate by the names of modules" calibrate \
        "$work/torch/net.onnx" "$work/torch/dump" "$work/torch.txt"
    sed -n 's/.*key: "\(.*\)"/\1/p; s/.*ifmr: \([0-9]*\) samples in \[\([^,]*\), \([^]]*\)\].*/\1 \2 \3/p' \
        "$work/torch.txt" | awk 'NR % 2 { name = $0; next }
            { printf "%s %d %.6g %.6g\n", name, $1, $2, $3 }' >"$work/seen"
    ok "and hold what the layers have seen" awk 'NR == FNR { w[$1] = $0; next }
        { split(w[$1], a, " ")
          for (i = 2; i <= 4; i++) { d = $i - a[i]
              if (d * d > 1e-8) { print; bad = 1 } } }
        END { exit bad || FNR != 3 }' "$work/torch/expected" "$work/seen"
else
    skip 3 "dump_pytorch.py: no python with torch (Debian: python3-torch)"
fi
finish
