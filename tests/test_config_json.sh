#!/bin/sh
# config.json on the command line: dumps and the tables made from them, the
# JSON Schema (judged by python3-jsonschema when it is installed), several
# faults in one run.
. "$(dirname "$0")/lib.sh"

root=$(cd "$(dirname "$0")/.." && pwd)
retrain=$root/examples/retrain-sample/config.json

# ---- messages, word for word ----

says_what_is_expected() {
    (cd "$root/tests/bad" && "$QUANTC" check "$1.json") 2>"$work/said"
    [ $? = 1 ] && diff "$root/tests/bad/$1.expected" "$work/said"
}
for f in "$root"/tests/bad/*.json; do
    name=$(basename "$f" .json)
    ok "messages about bad/$name.json" says_what_is_expected "$name"
done

# ---- dump ----

mkdir -p "$work/a" "$work/b"
cat >"$work/a/config.json" <<'EOF'
{"conv1":{"retrain_data_config":{"clip_min":-3,"clip_max":2.70,"fixed_min":
false},"retrain_enable":true,"retrain_weight_config":{"channel_wise":true}},
"fc\u5377/\ud83d\ude00":{"retrain_enable":false},"batch_num":2}
EOF

dump() { "$QUANTC" dump --json --kind "$2" "$1"; }
# The dump of $1 equals its own dump.
dumps_to_itself() {
    dump "$1" "$2" >"$work/first" && dump "$work/first" "$2" >"$work/second" &&
        cmp "$work/first" "$work/second"
}
ok "a dump of layers on a few lines dumps to itself" \
    dumps_to_itself "$work/a/config.json" json-retrain
ok "a dump of the printed sample dumps to itself" \
    dumps_to_itself "$retrain" json-retrain

# What compiles to the same numbers; places, spelling and hash differ.
numbers() { sed -e 's|/\*.*\*/||' -e '/^ \*/d' -e '/_HASH /d' -e '/_CRC32 /d' -e '/ (crc32 /d' "$1"/out/*.[ch]; }
same_tables() {
    dump "$work/a/config.json" json-retrain >"$work/b/config.json"
    for d in a b; do
        (cd "$work/$d" && "$QUANTC" compile config.json -o out) || return 1
        numbers "$work/$d" >"$work/$d.numbers"
    done
    grep -q 1449551488 "$work/a.numbers" && cmp "$work/a.numbers" "$work/b.numbers"
}
ok "a dumped file compiles to the same tables" same_tables

# ---- schema ----

for kind in json-retrain json-calib; do
    "$QUANTC" schema --kind $kind >"$work/$kind.schema"
    ok "the schema of $kind is JSON" \
        "$QUANTC" check --kind json-syntax "$work/$kind.schema"
done
fails 2 "a schema of a text format is refused" "$QUANTC" schema --kind calib

# One instance for each line: what the schema must say, its kind, the file.
cat >"$work/instances" <<'EOF'
yes json-retrain {"version":1,"batch_num":1,"conv1":{"retrain_enable":true}}
yes json-retrain {"a":{"retrain_data_config":{"clip_max":3,"clip_min":-0.5,"fixed_min":true,"dst_type":"INT16"}}}
yes json-retrain {"a":{"retrain_weight_config":{"algo":"ulq_retrain","channel_wise":false,"dst_type":"INT8"}}}
yes json-retrain {"a":{"regular_prune_enable":true,"regular_prune_config":{"prune_ratio":0.5}}}
no json-retrain []
no json-retrain {"version":2}
no json-retrain {"batch_num":0}
no json-retrain {"batch_num":4294967296}
no json-retrain {"":{}}
no json-retrain {"a":1}
no json-retrain {"activation_offset":true}
no json-retrain {"a":{"retrain_enabled":true}}
no json-retrain {"a":{"retrain_enable":"true"}}
no json-retrain {"a":{"retrain_data_config":{"clip_max":1.0}}}
no json-retrain {"a":{"retrain_data_config":{"clip_max":0,"clip_min":-1}}}
no json-retrain {"a":{"retrain_data_config":{"algo":"ulq"}}}
no json-retrain {"a":{"retrain_data_config":{"channel_wise":true}}}
no json-retrain {"a":{"retrain_weight_config":{"dst_type":"int8"}}}
yes json-calib {"activation_offset":false,"skip_fusion_layers":["a"],"a":{"quant_enable":true}}
yes json-calib {"a":{"activation_quant_params":{"max_percentile":1,"search_range":[0.7,1.3],"search_step":0.01,"act_algo":"ifmr"}}}
yes json-calib {"a":{"activation_quant_params":{"num_bits":16,"num_of_bins":4096,"act_algo":"hfmg"}}}
yes json-calib {"a":{"weight_quant_params":{"wts_algo":"ada_quantize","num_iteration":100,"beta_range":[20,2]}}}
no json-calib {"skip_fusion_layers":["a","a"]}
no json-calib {"skip_fusion_layers":[""]}
no json-calib {"a":{"dmq_balancer_param":0.9}}
no json-calib {"a":{"activation_quant_params":{"max_percentile":0.5}}}
no json-calib {"a":{"activation_quant_params":{"num_bits":7}}}
no json-calib {"a":{"activation_quant_params":{"search_range":[0.7]}}}
no json-calib {"a":{"activation_quant_params":{"search_range":[0,1.3]}}}
no json-calib {"a":{"activation_quant_params":{"search_step":0.1,"num_of_bins":1024}}}
no json-calib {"a":{"activation_quant_params":{"act_algo":"ifmr","num_of_bins":1024}}}
no json-calib {"a":{"weight_quant_params":{"wts_algo":"arq_quantize","num_iteration":1}}}
no json-calib {"a":{"weight_quant_params":{"num_iteration":1}}}
EOF

# What the list says, quantc says too.
while read -r want kind text; do
    echo "$text" >"$work/instance.json"
    "$QUANTC" check --kind "$kind" "$work/instance.json" 2>"$work/said"
    said=yes
    # What is enabled the schema cannot count.
    grep ' error: ' "$work/said" | grep -qv 'cfg.nothing-enabled' && said=no
    [ $said = "$want" ] || echo "$want: $text"
done <"$work/instances" >"$work/disagree"
ok "the instances are judged by quantc as listed" test ! -s "$work/disagree"

cat >"$work/judge.py" <<'EOF'
import json, sys, jsonschema
work = sys.argv[1]
wrong = 0
schemas = {}
for kind in ("json-retrain", "json-calib"):
    schemas[kind] = json.load(open("%s/%s.schema" % (work, kind)))
    jsonschema.Draft202012Validator.check_schema(schemas[kind])
for line in open(work + "/instances"):
    want, kind, text = line.split(" ", 2)
    judge = jsonschema.Draft202012Validator(schemas[kind])
    if judge.is_valid(json.loads(text)) != (want == "yes"):
        print("%s: %s" % (want, text))
        wrong += 1
judge = jsonschema.Draft202012Validator(schemas["json-retrain"])
for path in sys.argv[2:]:
    for e in judge.iter_errors(json.load(open(path))):
        print(path, e.message)
        wrong += 1
sys.exit(wrong != 0)
EOF
python=
for p in python3 /usr/bin/python3; do
    [ -z "$python" ] && has $p &&
        $p -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null &&
        python=$p
done
if [ -n "$python" ]; then
    ok "a validator judges the instances by the schema alike" \
        $python "$work/judge.py" "$work" "$retrain" "$work/a/config.json"
else
    skip 1 "python3-jsonschema is not installed: schemas not judged by it"
fi

finish
