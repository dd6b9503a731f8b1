"""Processor time of python's protobuf text_format on a quant.cfg, in ms.

  bench_text.py FOLDER FILE     FOLDER has calibration_config_pb2 (protoc)
"""
import sys
import time

sys.path.insert(0, sys.argv[1])
from google.protobuf import text_format  # noqa: E402
import calibration_config_pb2 as schema  # noqa: E402

text = open(sys.argv[2], encoding="utf-8").read()
best = 1e9
for _ in range(3):
    start = time.process_time()
    text_format.Parse(text, schema.AMCTConfig())
    best = min(best, time.process_time() - start)
print("%.1f" % (best * 1e3))
