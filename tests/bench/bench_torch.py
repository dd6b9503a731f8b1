"""ARQ and IFMR against the same operations in torch, one thread, in one
process, alternating, the best of several rounds. Prints, never fails.

  bench_torch.py SHIM.so ARCH     SHIM: tests/bench/torch_shim.c and kernels

AMCT runs these operations; what is compared is their order and number, not
AMCT itself. Needs numpy and torch. An operation on 1e7 values makes new
tensors of 40 MB: unless the allocator keeps them, most of torch's time goes
into page faults, so it is told to, and to take large pages.
"""
import ctypes
import os
import sys
import time

KEEP = {"MALLOC_MMAP_THRESHOLD_": "4294967296",
        "MALLOC_TRIM_THRESHOLD_": "4294967296",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
if any(os.environ.get(k) != v for k, v in KEEP.items()):
    os.execve(sys.executable, [sys.executable] + sys.argv,
              {**os.environ, **KEEP})

import torch  # noqa: E402

EPS = 2.0 ** -23
ROW = "%-52s %8.3f %8.3f %8.2f >=%5g >=%5g  %s"
lib = ctypes.CDLL(os.path.abspath(sys.argv[1]))
v3 = sys.argv[2] == "x86-64-v3"


def pointer(t):
    return ctypes.c_void_p(t.data_ptr())


def compare(what, ours, other, must, goal, rounds):
    best = [1e9, 1e9]
    for f in (ours, other):
        f()
    for _ in range(rounds):
        for i, f in enumerate((ours, other)):
            start = time.process_time()
            f()
            best[i] = min(best[i], time.process_time() - start)
    ratio = best[1] / best[0]
    if not v3 or not must:
        line = "%-52s %8.3f %8.3f %8.2f       -       -" % (
            what, best[0] * 1e3, best[1] * 1e3, ratio)
    else:
        verdict = "SHORT" if ratio < must else \
            "ok" if ratio < goal else "ok, goal"
        line = ROW % (what, best[0] * 1e3, best[1] * 1e3, ratio, must,
                         goal, verdict)
    print(line, flush=True)


def codes(w, scale, offset):
    return torch.clamp(torch.round(w / scale + offset), -128, 127)


def arq_scale(w):
    high, low = w.max(dim=1)[0], w.min(dim=1)[0]
    negative = high.abs() < low.abs()
    scale = torch.maximum(high.abs(), low.abs()) / (127 + negative.float())
    scale = torch.where(scale < EPS, torch.ones_like(scale), scale)
    return scale[:, None], torch.zeros_like(scale)[:, None]


def bench_arq():
    channels, inner = 512, 512 * 9
    w = torch.randn(channels, inner)
    q = torch.zeros(channels, inner, dtype=torch.int8)
    fake = torch.zeros(channels, inner)
    scale = torch.zeros(channels)
    offset = torch.zeros(channels, dtype=torch.int32)
    theirs = {}

    def ours(with_fake):
        lib.bench_arq(pointer(w), channels, inner, pointer(scale),
                      pointer(offset), pointer(q),
                      pointer(fake) if with_fake else None)

    def other():
        s, o = arq_scale(w)
        theirs["fake"] = (codes(w, s, o) - o) * s
        theirs["q"] = codes(w, s, o).to(torch.int8)

    # AMCT makes the fake-quantized weights with the steps; codes and steps
    # are what anybody needs.
    compare("ARQ 512x512x3x3 per channel, ms", lambda: ours(False), other, 12,
            31, 500)
    compare("  the same, ours with fake-quantized weights too",
            lambda: ours(True), other, 0, 0, 60)
    if not (torch.equal(theirs["q"], q) and torch.equal(theirs["fake"], fake)):
        print("  results differ")


def bench_ifmr(n, must, goal, rounds):
    x = torch.randn(n)
    ratios = torch.tensor([0.7 + 0.01 * i for i in range(61)],
                          dtype=torch.float64).to(torch.float32)
    scale = ctypes.c_float()
    found = {}

    def ours():
        found["ours"] = lib.bench_ifmr(pointer(x), ctypes.c_size_t(n),
                                       pointer(ratios), 61,
                                       ctypes.byref(scale))

    def other():
        low, high = x.min(), x.max()
        losses = []
        for r in ratios:
            clip = r * high
            s = (clip - low) / 255
            y = torch.round(torch.clamp(x, low.item(), clip.item()) / s) * s
            losses.append(torch.mean(torch.pow(y - x, 2)))
        found["torch"] = int(torch.argmin(torch.stack(losses)))

    compare("IFMR exact, n = %.0e, 61 candidates, ms" % n, ours, other, must,
            goal, rounds)
    print("  candidate %(ours)d, of torch %(torch)d" % found)


torch.set_num_threads(1)
torch.manual_seed(1)
print("%-52s %8s %8s %8s %7s %7s" % (
    "against torch %s, %s" % (torch.__version__, sys.argv[2]), "ours",
    "torch", "ratio", "must", "goal"))
bench_arq()
bench_ifmr(100000, 0, 0, 15)
bench_ifmr(1000000, 30, 60, 7)
bench_ifmr(10000000, 35, 77, 3)
