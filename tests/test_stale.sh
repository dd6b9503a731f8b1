#!/bin/sh
# What a record was made from: its lines about model and configuration say what
# tables, plan and image say; a record, a shard or an image of other inputs is
# refused and the input named; one whose settings are the same is not.
# shellcheck disable=SC2086 # lists of words
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"

model=$work/model.onnx
config=$work/config.json
data=$top/tests/calib/data
cp "$top/examples/digits/model.onnx" "$model"
cp "$top/tests/calib/config.json" "$config"
record=$work/record.txt

calibrate() { "$QUANTC" calibrate "$@"; }
compile() { rm -rf "$work/out" && "$QUANTC" compile "$@" -o "$work/out"; }
takes() { compile "$@" --werror; }
# refuses TEXT COMMAND...: status 1, TEXT on standard error, nothing written
refuses() {
    _text=$1
    shift
    rm -rf "$work/out"
    "$@" >"$work/said.out" 2>"$work/said"
    _status=$?
    cat "$work/said"
    [ $_status = 1 ] && [ ! -e "$work/out" ] &&
        grep -qF -- "$_text" "$work/said"
}
warns() {
    _text=$1
    shift
    "$@" 2>"$work/said"
    _status=$?
    cat "$work/said"
    [ $_status = 0 ] && grep -qF -- "$_text" "$work/said"
}
calibrate "$config" --model "$model" --data "$data" -o "$record" || exit 1
bare() { # bare LAYERS: without what the graph tells
    sed -n '/^layer/p; /^}/p; /^  name/p; /^  type/p; /^  weight_shape/p; /^  group/p' "$1"
}
edited() { sed "$1" "$config" >"$work/$2.json"; } # edited SED NAME
with() { compile "$work/$1.json" --model "$model" --record "$record"; }
# A model of other bytes and the same content: field 15, empty, of no meaning.
mkdir -p "$work/other"
other=$work/other/model.onnx
{
    cat "$model"
    printf '\172\000'
} >"$other"

# ---- one spelling everywhere ----

crc() { sed -n "s/^#   $1 .*(crc32 \\([0-9a-f]\\{8\\}\\))\$/\\1/p" "$record"; }
ok "tables, plan" compile "$config" --model "$model" --record "$record" \
    --plan "$work/plan.json"
ok "image" "$QUANTC" image "$config" --model "$model" --record "$record" \
    -o "$work/quant.img"
"$QUANTC" show "$work/quant.img" >"$work/show"
for role in config model; do
    c=$(crc $role)
    case $role in
    config) file=config.json name=CONFIG ;;
    model) file=model.onnx name=MODEL ;;
    esac
    line="$(printf %-7s $role) $file (crc32 $c)"
    ok "$role: the record's line" grep -qxF "#   $line" "$record"
    ok "$role: quant_tables.h" grep -qxF " *   $line" "$work/out/quant_tables.h"
    ok "$role: quant_tables.c" grep -qxF " *   $line" "$work/out/quant_tables.c"
    ok "$role: a macro" \
        grep -qx "#define QUANT_TABLES_${name}_CRC32  *0x${c}u" \
        "$work/out/quant_tables.h"
    ok "$role: the head for devices" grep -qF "\"#   $line\\n\"" \
        "$work/out/quant_tables.h"
    ok "$role: plan.json" grep -q "\"crc32\":.*\"$c\"" "$work/plan.json"
    ok "$role: the image" grep -qx "  $role  *crc32 $c" "$work/show"
done
if has python3; then
    ok "the crc32 is that of zip" python3 - "$config" "$(crc config)" \
        "$model" "$(crc model)" <<'P'
import sys, zlib
for path, crc in (sys.argv[1:3], sys.argv[3:5]):
    assert "%08x" % zlib.crc32(open(path, "rb").read()) == crc
P
else
    skip 1 "the crc32 is that of zip: no python3"
fi
ok "no folders" sh -c "! grep -q '$work' '$record'"
if has protoc; then
    message=$(sed -n 's/^message \(ScaleOffsetRecord[A-Za-z]*\).*/\1/p' \
        "$top/proto/scale_offset_record.proto" | head -n 1)
    package=$(sed -n 's/^package \(.*\);/\1./p' \
        "$top/proto/scale_offset_record.proto")
    ok "protobuf's own reader takes the record" sh -c "protoc \
        --encode=$package$message --proto_path='$top/proto' \
        '$top/proto/scale_offset_record.proto' <'$record' >'$work/record.pb'"
else
    skip 1 "protobuf's own reader: no protoc"
fi

# ---- another model ----

ok "its own inputs" takes "$config" --model "$model" --record "$record"
moved="$record:3:1: error: the record was made from another model: model.onnx \
(crc32 $(crc model)), now model.onnx (crc32 "
ok "another model" refuses "$moved" \
    compile "$config" --model "$other" --record "$record"
ok "says what to do" grep -q 'help: calibrate again' "$work/said"
ok "and is the one error" grep -q ': 1 error$' "$work/said"
ok "check" refuses "$moved" \
    "$QUANTC" check "$config" --model "$other" --record "$record"
ok "check of the record" refuses "$moved" \
    "$QUANTC" check "$record" --model "$other"
ok "image" refuses "$moved" "$QUANTC" image "$config" --model "$other" \
    --record "$record" -o "$work/out"
ok "explain" refuses "$moved" \
    "$QUANTC" explain "$config" --model "$other" --record "$record"
ok "config" refuses "$moved" \
    "$QUANTC" config "$config" --model "$other" --record "$record"
ok "without a configuration" refuses "$moved" \
    compile --model "$other" --record "$record"
ok "a warning with --compat amct" warns "warning: the record was made from" \
    compile "$config" --model "$other" --record "$record" --compat amct
ok "taken on purpose" warns "warning: the record was made from" \
    compile "$config" --model "$other" --record "$record" -W res.stale-record
grep -v '^#   model' "$record" >"$work/silent.txt"
ok "taken without the line" takes "$config" --model "$other" \
    --record "$work/silent.txt"
"$QUANTC" layers "$model" >"$work/model.layers"
ok "a list of the model's layers" takes "$config" \
    --layers "$work/model.layers" --record "$record"
ok "says which model it lists" grep -qx "$(grep '^#   model' "$record")" \
    "$work/model.layers"
list_head() { grep -qF "\"#   model   model.onnx (crc32 $(crc model))\\n\"" \
    "$work/out/quant_tables.h"; }
ok "and so do its tables to devices" list_head
"$QUANTC" layers "$other" >"$work/other.layers"
ok "a list of another model" refuses "$moved" compile "$config" \
    --layers "$work/other.layers" --record "$record"
grep -v '^#' "$work/other.layers" >"$work/silent.layers"
ok "a list of no known model" takes "$config" \
    --layers "$work/silent.layers" --record "$record"
ok "nor is none" compile "$config" --record "$record"
edited 's/"search_step": 0.01/"search_step": 0.02/' steps
ok "which tells too little about settings" compile "$work/steps.json" \
    --record "$record"
cat "$record" >"$work/two.txt"
sed "s/(crc32 $(crc model))/(crc32 00000001)/; s/\"\$/_2\"/" "$record" |
    sed -n '1,3p' >>"$work/two.txt"
ok "a second head counts as well" refuses "model: model.onnx (crc32 00000001)" \
    compile "$config" --model "$model" --record "$work/two.txt"

# External data are the model's bytes.
mkdir -p "$work/ext"
cp "$top/tests/models/external.onnx" "$top/tests/models/external.data" \
    "$work/ext"
tables() {
    "$QUANTC" compile --model "$work/ext/external.onnx" --batch-num 1 \
        -Wno-res.not-calibrated -o "$work/ext" &&
        grep CRC32 "$work/ext/quant_tables.h" >"$1"
}
if has python3; then
    ok "external data" tables "$work/ext/a"
    ok "are in the model's crc32" python3 - "$work/ext" <<'P'
import re, sys, zlib
d = sys.argv[1] + "/"
want = b"".join(open(d + f, "rb").read() for f in ("external.onnx", "external.data"))
have = re.search("MODEL_CRC32 +0x(.*)u", open(d + "a").read()).group(1)
assert "%08x" % zlib.crc32(want) == have, have
P
else
    skip 2 "external data: no python3"
fi

# ---- another configuration ----

moved="$record:2:1: error: the record was made with another configuration: \
config.json (crc32 $(crc config)), now "
{
    cat "$config"
    echo
} >"$work/blank.json"
ok "other blanks calibrate alike" with blank
sed 's/$/\r/' "$config" >"$work/crlf.json"
ok "so do other line ends" with crlf
edited '/"pw": {/,/^  }/s/"quant_enable": true/"quant_enable": false/' skip
ok "a layer that is skipped leaves the others alone" with skip
edited '/"pw": {/,/^  }/{s/"quant_enable": true/"quant_enable": false/
    s/"search_step": 0.01/"search_step": 0.02/;}' skip_step
ok "whatever else is said of it" with skip_step
"$QUANTC" config "$config" --model "$model" >"$work/again.json"
ok "what quantc config prints" with again
changes() { # changes NAME SED LAYERS: refused, and these layers are named
    edited "$2" "$1"
    ok "$1" refuses "$moved$1.json (crc32 " with "$1"
    ok "$1: which layers" grep -q "calibrates otherwise: $3 \[res" "$work/said"
    ok "$1: and what decides" grep -q "note: this decides layer" "$work/said"
    ok "$1: as the one error" grep -q ': 1 error$' "$work/said"
    ok "$1: taken on purpose" compile "$work/$1.json" --model "$model" \
        --record "$record" -W res.stale-record
}
of_conv1() { echo "/\"conv1\": {/,/^  }/$1"; }
changes percentile "$(of_conv1 's/"max_percentile": 0.9999/"max_percentile": 0.999/')" "'conv1'"
changes percentile2 "$(of_conv1 's/"min_percentile": 0.9999/"min_percentile": 0.999/')" "'conv1'"
changes step "$(of_conv1 's/"search_step": 0.01/"search_step": 0.02/')" "'conv1'"
changes start "$(of_conv1 's/0\.7,/0.75,/')" "'conv1'"
changes end "$(of_conv1 's/1\.3$/1.2/')" "'conv1'"
changes batches 's/"batch_num": 2/"batch_num": 3/' "'conv1', 'dw', 'pw'.*'fc'"
edited '/"dw": {/,/^  }/s/"asymmetric": false/"asymmetric": true/' asymmetric
ok "a zero point" refuses "$moved" with asymmetric
edited "$(of_conv1 's/"channel_wise": true/"channel_wise": false/')" wise
ok "what the record shows has its own message" refuses \
    "scale_w' for layer 'conv1', the configuration wants one" with wise
not_twice() { ! grep -q 'another configuration' "$work/said"; }
ok "and no other" not_twice
ok "a list of layers is enough" refuses "$moved" compile "$work/step.json" \
    --layers "$work/model.layers" --record "$record"
bare "$work/model.layers" >"$work/bare.layers"
ok "also one without the graph" refuses "$moved" compile "$work/step.json" \
    --layers "$work/bare.layers" --record "$record"
ok "which takes what it cannot know" takes "$work/blank.json" \
    --layers "$work/bare.layers" --record "$record"

{
    cat "$record"
    sed 's/(crc32 [0-9a-f]*)/(crc32 00000001)/; /^#   model/d; 4,$d' "$record"
} >"$work/heads.txt"
sed 's/^#   model.*//' "$work/heads.txt" >"$work/line.txt"
ok "two heads" refuses "line.txt:2:1: error: ${moved#*: error: }" \
    compile "$work/batches.json" --model "$model" --record "$work/line.txt"
first() { grep -q '^[^:]*:2:1: error' "$work/said"; }
ok "two heads: the first that differs is shown" first

# BatchNormalization, HFMG, ULQ.
edited 's/"do_fusion": true/"do_fusion": false/' unfused
ok "BatchNorm not folded, where there is one" refuses \
    "calibrates otherwise: 'conv1', 'dw', 'pw' [res" with unfused
bare "$work/model.layers" >"$work/bare.layers"
ok "BatchNorm that may be there" takes "$work/blank.json" \
    --layers "$work/bare.layers" --record "$record"
calibrate "$work/unfused.json" --model "$model" --data "$data" \
    -o "$work/unfused.txt"
ok "BatchNorm that need not be there" takes "$config" \
    --layers "$work/bare.layers" --record "$work/unfused.txt"
ok "BatchNorm that would not be folded" refuses \
    "calibrates otherwise: 'conv1', 'dw', 'pw' [res" compile \
    "$work/unfused.json" --layers "$work/bare.layers" --record "$record"
{
    echo 'batch_num : 2'
    echo 'common_config { arq_quantize { channel_wise : false }'
    echo '  hfmg_quantize { num_of_bins : 1024 } }'
} >"$work/hfmg.cfg"
calibrate "$work/hfmg.cfg" --model "$model" --data "$data" -o "$work/hfmg.txt" 2>/dev/null
ok "hfmg" compile "$work/hfmg.cfg" --model "$model" --record "$work/hfmg.txt"
sed 's/1024/2048/' "$work/hfmg.cfg" >"$work/bins.cfg"
ok "num_of_bins" refuses "calibrates otherwise: 'conv1'" \
    compile "$work/bins.cfg" --model "$model" --record "$work/hfmg.txt"
sed 's/hfmg.*/ifmr_quantize { } }/' "$work/hfmg.cfg" >"$work/ifmr.cfg"
ok "the algorithm" refuses "calibrates otherwise: 'conv1'" \
    compile "$work/ifmr.cfg" --model "$model" --record "$work/hfmg.txt"
clips() { # clips NAME MAX MIN FIXED
    sed "s/\"algo\":\"ulq_quantize\",/&\"clip_max\":$2,\"clip_min\":$3,/
        s/\"algo\":\"ulq_quantize\",/&\"fixed_min\":$4,/" \
        "$top/examples/digits/config.json" >"$work/$1.json"
}
clips clips 3.0 -1.0 false
mkdir -p "$work/empty"
calibrate "$work/clips.json" --model "$model" --data "$work/empty" \
    -o "$work/clips.txt"
ulq() { compile "$work/$1.json" --model "$model" --record "$work/clips.txt"; }
ok "ulq" ulq clips
clips max 4.0 -1.0 false
ok "clip_max" refuses "another configuration: clips.json" ulq max
clips min 3.0 -2.0 false
ok "clip_min" refuses "another configuration: clips.json" ulq min
clips fixed 3.0 -1.0 true
ok "fixed_min" refuses "another configuration: clips.json" ulq fixed
calibrate "$top/examples/digits/config.json" --model "$model" \
    --data "$data" -o "$work/ulq.txt" 2>/dev/null
ok "clips that were not given" refuses "another configuration: config.json" \
    compile "$work/clips.json" --model "$model" --record "$work/ulq.txt"

{
    cat "$top/examples/digits/config.json"
    echo
} >"$work/ulq.json"
ok "fixed_min by the graph" takes "$work/ulq.json" --model "$model" \
    --record "$work/ulq.txt" -Wno-res.clip-range
ok "fixed_min where the graph is not known" compile "$work/ulq.json" \
    --layers "$work/bare.layers" --record "$work/ulq.txt"

# Without a configuration there is no line of it, but there are settings.
calibrate --model "$model" --batch-num 2 --data "$data" -o "$work/none.txt"
no_config() { ! grep -q '^#   config' "$work/none.txt"; }
ok "calibrated without a configuration" no_config
ok "compiled without one" compile --model "$model" --record "$work/none.txt"
echo 'batch_num : 2' >"$work/two.cfg"
ok "with one that says the same" compile "$work/two.cfg" --model "$model" \
    --record "$work/none.txt"
echo 'batch_num : 3' >"$work/three.cfg"
ok "with another one" refuses \
    "the record was made with other settings than those of" \
    compile "$work/three.cfg" --model "$model" --record "$work/none.txt"

# ---- lines of all kinds ----

line() { # line SED: the record changed so
    sed "$1" "$record" >"$work/line.txt"
}
stale() { compile "$work/step.json" --model "$other" --record "$work/line.txt"; }
fresh() { takes "$config" --model "$model" --record "$work/line.txt"; }
both() { # both NAME: still compared
    ok "$1: compared" fresh
    ok "$1: the configuration" refuses "another configuration" stale
    ok "$1: the model" grep -q "another model" "$work/said"
}
line 's/$/\r/'
both "CRLF"
line '/^#/s/[0-9a-f]\{8\}/\U&/'
both "capital digits"
line '/^# *[cm]o/s/^# */\t #/; s/ (crc32/  (crc32/; /^#/s/$/  /'
both "blanks"
line '/^#/s/ [a-z]*\.[a-z]* / a (crc32 01234567) b.onnx /'
both "a name like a checksum"
line '/settings/d'
ok "no settings: the same bytes" fresh
ok "no settings: any other bytes" refuses "does not tell which settings" \
    compile "$work/blank.json" --model "$model" --record "$work/line.txt"
line '/config/d'
ok "no configuration: settings count" refuses \
    "the record was made with other settings than those of" \
    compile "$work/step.json" --model "$model" --record "$work/line.txt"
ok "no configuration: the same ones" compile "$work/blank.json" \
    --model "$model" --record "$work/line.txt"
line '/^ *#/d'
ok "no lines: AMCT's own" takes "$work/step.json" --model "$other" \
    --record "$work/line.txt"
for broken in 's/^\(#   model.*(crc32 \)[0-9a-f]*/\112345/' \
    's/^\(#   model.*(crc32 ........\))/\1/' \
    's/^\(#   model.*(crc32 ........)\)/\1 x/' \
    's/^\(#   model.*(crc32\) /\1:/' \
    's/^#   model.*onnx /#   model /' \
    's/^\(#   config.*(crc32 \)./\1g/' \
    '0,/settings/s/\(settings crc32 \)./\1-/'; do
    line "$broken"
    ok "broken by $broken" warns "[sem.origin-line]" \
        compile "$config" --model "$model" --record "$work/line.txt"
    ok "broken by $broken: check alone" warns "[sem.origin-line]" \
        "$QUANTC" check "$work/line.txt"
done
line 's/^#   model .*/# model and config are mine (crc)\n#model\n#\n# settings crc32/'
ok "ordinary comments" takes "$config" --model "$other" \
    --record "$work/line.txt"
printf 'record { key: "conv1" value { skip_fusion: true } } # model m (crc32 00000000)\n' \
    >"$work/behind.txt"
ok "a comment behind something" "$QUANTC" check "$work/behind.txt" \
    --model "$model" --werror -Wno-res.not-calibrated
mkdir -p "$work/names"
odd=$work/names/'a	(crc32 00000000) ?.json'
cp "$config" "$odd"
calibrate "$odd" --model "$model" --data "$data" -o "$work/odd.txt"
ok "an odd file name" takes "$odd" --model "$model" --record "$work/odd.txt"
ok "an odd file name, another one" takes "$config" --model "$model" \
    --record "$work/odd.txt"

# ---- shards ----

for s in 0 1; do
    mkdir -p "$work/s$s"
    {
        echo "{"
        comma=
        for l in conv1 dw pw fc; do
            echo "$comma\"$l\": [\"$data/$l/$s.npy\"]"
            comma=,
        done
        echo "}"
    } >"$work/s$s/index.json"
done
shard() { calibrate "$2" --model "$3" --data "$work/s$1" --partial "$work/$1.qobs"; }
merge() { "$QUANTC" merge "$work/0.qobs" "$work/1.qobs" -o "$work/out" --again "$work/again.qobs"; }
shard 0 "$config" "$model"
shard 1 "$config" "$other"
ok "shards of two models" refuses "$work/1.qobs:1:1: error: the model is \
model.onnx (crc32 $(crc model)) in $work/0.qobs and model.onnx (crc32 " merge
shard 1 "$work/blank.json" "$model"
ok "shards of two configurations" refuses "$work/1.qobs:1:1: error: the config \
is config.json (crc32 $(crc config)) in $work/0.qobs and blank.json (crc32 " merge
shard 1 "$work/step.json" "$model"
ok "shards of other settings" refuses "'search_step' of layer 'conv1' is" merge
ok "the input is named too" grep -q "help: the config is config.json" "$work/said"
shard 1 "$config" "$model"
merge 2>/dev/null
ok "the next round with another configuration" refuses "the config is \
config.json (crc32 $(crc config)) in $work/again.qobs and blank.json" \
    calibrate "$work/blank.json" --model "$model" --data "$work/s0" \
    --partial "$work/0.qobs" --resume "$work/again.qobs"
ok "the next round with another model" refuses "the model is model.onnx \
(crc32 $(crc model)) in $work/again.qobs and model.onnx" \
    calibrate "$config" --model "$other" --data "$work/s0" \
    --partial "$work/0.qobs" --resume "$work/again.qobs"
for r in 1 2 3; do
    for s in 0 1; do
        calibrate "$config" --model "$model" --data "$work/s$s" \
            --partial "$work/$s.qobs" --resume "$work/again.qobs"
    done
    merge 2>/dev/null && break
done
ok "merged as made by one, heads and settings included" \
    cmp "$work/out" "$record"
finish
