#!/bin/sh
# What is in effect for the layers of ten real models, by quant.cfg and by the
# config.json that says the same: tests against layers.json of the shared
# folder.
. "$(dirname "$0")/lib.sh"

in_effect() { # in_effect MODEL CONFIG KIND
    "$QUANTC" explain "$1/$2" --kind "$3" --model "$1/model.onnx" --json \
        >"$work/explain.json" 2>"$work/messages" || {
        cat "$work/messages"
        return 1
    }
    python3 - "$work/explain.json" "$1/layers.json" "$3" <<'P'
import json, sys
rows = {r["name"]: r for r in json.load(open(sys.argv[1]))["layers"]}
names = {"search_range_start": "search_range[0]",
         "search_range_end": "search_range[1]"}
bad = 0
for l in json.load(open(sys.argv[2])):
    r = rows[l["name"]]
    wanted = dict(l["effective"])
    got = {"enabled": r["enabled"]["value"]}
    want = {"enabled": l["quantized_by_quant_cfg"]}
    if sys.argv[3] == "calib":
        got["by"], want["by"] = r["decided_by"], l["effective_source"]
    elif not want["enabled"]:
        wanted = {}  # not listed, or without values
    for key, value in wanted.items():
        half = "weights" if key == "channel_wise" else "activations"
        name = names.get(key, key) if sys.argv[3] == "json-calib" else key
        got[key] = r[half].get(name, {}).get("value")
        want[key] = value
    if got != want:
        bad += 1
        print(l["name"], got, want)
sys.exit(bad != 0)
P
}

models=$(ls -d "$QC_SHARED"/models/*/ 2>/dev/null)
if [ -n "$models" ] && has python3; then
    for m in $models; do
        m=${m%/}
        [ -f "$m/quant.cfg" ] || continue
        ok "$(basename "$m"): quant.cfg" in_effect "$m" quant.cfg calib
        ok "$(basename "$m"): config_ptq.json" \
            in_effect "$m" config_ptq.json json-calib
    done
else
    skip 20 "effective values of real models: no shared folder, or no python3"
fi
finish
