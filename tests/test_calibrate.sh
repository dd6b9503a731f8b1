#!/bin/sh
# quantc calibrate and merge: the digits example with a small set of samples,
# and the real models of the shared folder.
# shellcheck disable=SC2086 # lists of words
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"

model=$top/examples/digits/model.onnx
config=$top/tests/calib/config.json
data=$top/tests/calib/data
layers="conv1 dw pw fc"

calibrate() { "$QUANTC" calibrate "$@"; }
digits() { calibrate "$config" --model "$model" "$@"; }
# says TEXT COMMAND...: ends with status 1 and TEXT on standard error
says() {
    _text=$1
    shift
    "$@" >"$work/said.out" 2>"$work/said"
    _status=$?
    cat "$work/said"
    [ $_status = 1 ] && grep -qF -- "$_text" "$work/said"
}
warns() {
    _text=$1
    shift
    "$@" >"$work/said.out" 2>"$work/said"
    _status=$?
    cat "$work/said"
    [ $_status = 0 ] && grep -qF -- "$_text" "$work/said"
}
plain() { grep -v '^ *#' "$1"; }
same() { cmp "$1" "$2"; }
# Without what tells configurations apart.
found() { grep -v '^#   config\|# settings' "$1"; }
same_found() {
    found "$1" >"$work/found"
    found "$2" | cmp - "$work/found"
}
absent() { [ ! -e "$1" ]; }
# npy FILE TYPE COUNT: the head of an array; elements come from standard input
npy() {
    _head="{'descr': '$2', 'fortran_order': False, 'shape': ($3,), }
"
    {
        printf '\223NUMPY\001\000'
        # shellcheck disable=SC2059
        printf "\\$(printf %03o ${#_head})\\000"
        printf %s "$_head"
        cat
    } >"$1"
}
zeros() { head -c "$1" /dev/zero; }
# index DIR FILES...: index.json that gives every layer these files of its
# folder in $data
index() {
    _dir=$1
    shift
    mkdir -p "$_dir"
    {
        echo "{"
        _comma=
        for _l in $layers; do
            _list=
            for _f in "$@"; do
                _list="$_list${_list:+, }\"$data/$_l/$_f\""
            done
            echo "$_comma\"$_l\": [$_list]"
            _comma=,
        done
        echo "}"
    } >"$_dir/index.json"
}

# ---- one machine ----

whole=$work/whole.txt
ok "calibrates" digits --data "$data" -o "$whole" --report "$work/whole.json"
plain "$whole" >"$work/plain"
ok "the record is that of the obvious search" \
    diff "$work/plain" "$top/tests/calib/record.expected"
quiet() { [ -z "$(digits --data "$data" -o "$work/q.txt" 2>&1)" ]; }
ok "says nothing in a pipe" quiet
ok "-o - writes to standard output" sh -c "'$QUANTC' calibrate '$config' \
    --model '$model' --data '$data' -o - | cmp - '$whole'"
here() { (cd "$work" && digits --data "$data" && cmp record.txt "$whole"); }
ok "record.txt is the default" here
ok "the record compiles with its configuration" "$QUANTC" compile "$config" \
    --model "$model" --record "$whole" -o "$work/tables" --werror
for n in 2 4; do
    digits --data "$data" -o "$work/j.txt" --report "$work/j.json" -j $n
    ok "-j $n changes nothing" same "$work/j.txt" "$whole"
    ok "-j $n changes no report" same "$work/j.json" "$work/whole.json"
done
index "$work/reversed" 1.npy 0.npy
digits --data "$work/reversed" -o "$work/r.txt" -j2
ok "the order of files changes nothing" same "$work/r.txt" "$whole"
exact() {
    digits --data "$data" -o "$work/e.txt" --exact-loss &&
        ! grep -q '+-' "$work/e.txt" && grep -q '+-' "$whole" &&
        plain "$work/e.txt" | cmp - "$work/plain"
}
ok "--exact-loss: the same factors, exact losses" exact
ok "--stats prints time and memory" \
    sh -c "'$QUANTC' calibrate '$config' --model '$model' --data '$data' \
    -o '$work/s.txt' --stats 2>&1 | grep -q 'MB read, .* MiB at most'"
if has python3; then
    ok "the report is JSON and holds every layer" python3 - \
        "$work/whole.json" $layers <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["batch_num"] == 2 and list(r["layers"]) == sys.argv[2:], r
dw = r["layers"]["dw"]
assert (dw["samples"], dw["batches"], dw["rank_max"]) == (8192, 2, 82), dw
assert dw["index"] == 60 and dw["candidates"] == 61 and dw["clipped"] > 0
P
else
    skip 1 "the report as JSON: no python3"
fi

# ---- weights that are all 0, and a layer that has none ----

mkdir -p "$work/pooldata"
for l in flat pool; do
    cp "$data/conv1/0.npy" "$work/pooldata/$l.npy"
done
echo 'common_config { arq_quantize { channel_wise: false } }' >"$work/pools.cfg"
pools() { calibrate "$work/pools.cfg" --model "$top/tests/models/pools.onnx" --data "$work/pooldata" -o "$work/pools.txt"; }
ok "weights without a scale are a warning" warns "1 weight scale of layer 'flat' would be 0 or nearly: 1 is taken" pools
ok "pooling takes part" grep -q '# no weights: scale_w is 1' "$work/pools.txt"
ok "both have a scale of 1" test "$(grep -c '^    scale_w: 1$' "$work/pools.txt")" = 2
ok "the record compiles, with weights, and a warning" warns "'scale_w' of layer 'flat' is 1, as for weights that are all 0" \
    "$QUANTC" compile "$work/pools.cfg" --model "$top/tests/models/pools.onnx" \
    --record "$work/pools.txt" --weights -o "$work/pools"
not_finite() { calibrate "$work/pools.cfg" --model "$top/tests/models/faulty_weights.onnx" --data "$work/pooldata" -o "$work/no.txt"; }
ok "weights that are not finite are an error" says "the weights of layer 'nan' hold a number that is not finite" not_finite

# ---- samples whose step would overflow ----

mkdir -p "$work/large"
printf '\346\261\141\377\346\261\141\177' | npy "$work/large/flat.npy" '<f4' 2 # -3e38, 3e38
cp "$data/conv1/0.npy" "$work/large/pool.npy"
for algo in ifmr_quantize hfmg_quantize; do
    echo "activation_offset: true common_config { $algo { } arq_quantize { channel_wise: false } }" >"$work/$algo.cfg"
    ok "$algo: samples that are too large are an error" says "the samples of layer 'flat' are too large for binary32" \
        calibrate "$work/$algo.cfg" --model "$top/tests/models/pools.onnx" --data "$work/large" -o "$work/large.txt"
done
ok "a shard of them" calibrate "$work/ifmr_quantize.cfg" --model "$top/tests/models/pools.onnx" \
    --data "$work/large" --partial "$work/large.qobs"
ok "merged they are an error" says "the samples of layer 'flat' are too large for binary32" \
    "$QUANTC" merge "$work/large.qobs" -o "$work/large.txt"
ok "no record is written" absent "$work/large.txt"

# ---- a terminal is told how far it is ----

if has script && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$QUANTC' calibrate '$config' --model '$model' --data '$data' -o '$work/tty.txt'" /dev/null >"$work/tty" </dev/null
    ok "the line of progress is cleared at the end" sh -c 'tail -c 4 "$0" | od -An -c | grep -q "033   \[   K"' "$work/tty"
    ok "the record is the same" same "$work/tty.txt" "$whole"
else
    skip 2 "no script(1), or no terminals for it: progress on a terminal"
fi

# ---- where samples are looked for ----

mkdir -p "$work/flat" "$work/odd"
for l in $layers; do cp "$data/$l/0.npy" "$work/flat/$l.npy"; done
ok "NAME.npy without index.json; fewer batches than batch_num are a warning" \
    warns "'batch_num' is 2, layer 'conv1' has 1 batch" \
    digits --data "$work/flat" -o "$work/flat.txt"
index "$work/first" 0.npy
digits --data "$work/first" -o "$work/first.txt" 2>/dev/null
ok "the same through index.json" same "$work/first.txt" "$work/flat.txt"
fails 1 "fewer batches are an error with --compat amct" \
    digits --data "$work/flat" -o "$work/x.txt" --compat amct
sed 's/"batch_num": 2/"batch_num": 1/' "$config" >"$work/one.json"
ok "batches beyond batch_num are left out, with a warning" \
    warns "'batch_num' is 1: 1 of the 2 batches of layer 'conv1' are not used" \
    calibrate "$work/one.json" --model "$model" --data "$data" -o "$work/one.txt"
ok "the first ones are used" same_found "$work/one.txt" "$work/flat.txt"
# A folder's files come in the order of their names, not as they lie there.
cp -r "$work/flat" "$work/many"
rm "$work/many/conv1.npy"
mkdir "$work/many/conv1"
for n in k c g a h b j d i e f; do
    cp "$data/conv1/1.npy" "$work/many/conv1/$n.npy"
done
cp "$data/conv1/0.npy" "$work/many/conv1/Z.npy"
calibrate "$work/one.json" --model "$model" --data "$work/many" \
    -o "$work/many.txt" 2>/dev/null
ok "the first by name" same "$work/many.txt" "$work/one.txt"
rm "$work/flat/dw.npy" "$work/flat/fc.npy"
rm -f "$work/x.txt"
for l in dw fc; do
    ok "a layer without samples is named: $l" \
        says "no samples of the input of layer '$l'" \
        digits --data "$work/flat" -o "$work/x.txt"
done
ok "and no record is written" absent "$work/x.txt"
ok "--allow-uncalibrated" warns "no samples of the input of layer 'dw'" \
    digits --data "$work/flat" -o "$work/x.txt" --allow-uncalibrated
two() { [ "$(grep -c '^record' "$work/x.txt")" = 2 ]; }
ok "leaves those layers out" two
mkdir "$work/flat/pw"
ok "a file and a folder for one layer" says "a folder of the same name" \
    digits --data "$work/flat" -o "$work/y.txt"
echo '{"conv1": ["a.npy"], "/conv1/Conv": ["b.npy"]}' >"$work/odd/index.json"
ok "two names of one layer in index.json" \
    says 'a second entry for the layer "conv1"' \
    digits --data "$work/odd" -o "$work/y.txt"
echo '{"conv1": ["a.npy", 3]}' >"$work/odd/index.json"
ok "an index.json of another form" says "has a list of .npy files" \
    digits --data "$work/odd" -o "$work/y.txt"
echo '["conv1"]' >"$work/odd/index.json"
ok "a list as index.json" says "an object of layer names" \
    digits --data "$work/odd" -o "$work/y.txt"
echo '{"conv1": ["a.npy", "a.npy"], "pw": [], "no": "b.npy"}' \
    >"$work/odd/index.json"
ok "a file that is listed twice" says '"a.npy" is listed twice' \
    digits --data "$work/odd" -o "$work/y.txt"
ok "a layer that the model lacks" says 'the model has no layer "no"' \
    digits --data "$work/odd" -o "$work/y.txt"
fails 3 "a folder that is not there" digits --data "$work/none" -o "$work/y.txt"
fails 3 "a file for a folder" digits --data "$config" -o "$work/y.txt"
cp "$log" "$work/said"
ok "which it says" grep -q "config.json: cannot open: Not a directory" "$work/said"
echo '{"conv1": ["none.npy"]}' >"$work/odd/index.json"
fails 3 "a file that is not there" \
    digits --data "$work/odd" -o "$work/y.txt" --allow-uncalibrated
ok "and no record is written by any of them" absent "$work/y.txt"
fails 2 "--data is asked for" digits -o "$work/y.txt"
fails 2 "-j 0" digits --data "$data" -j0
fails 2 "--resume without --partial" digits --data "$data" --resume "$whole"
fails 2 "--report with --partial" digits --data "$data" --report x --partial y

# ---- samples that cannot be used ----

mkdir -p "$work/bad"
{
    zeros 80000
    printf '\000\000\300\177'
    zeros 8
} | npy "$work/bad/conv1.npy" '<f4' 20003
printf '\177\200\000\000' | npy "$work/bad/dw.npy" '>f4' 1
printf '\000\074\000\374' | npy "$work/bad/pw.npy" '<f2' 2
zeros 40 | npy "$work/bad/fc.npy" '<f4' 10
for text in "conv1.npy:1:1: error: layer 'conv1': element 20000 of 20003 is NaN" \
    "dw.npy:1:1: error: layer 'dw': element 0 of 1 is infinite" \
    "pw.npy:1:1: error: layer 'pw': element 1 of 2 is minus infinite"; do
    ok "named: $text" says "$text" digits --data "$work/bad" -o "$work/y.txt" -j3
done
for l in conv1 dw pw; do
    printf '\000\000\200\077' | npy "$work/bad/$l.npy" '<f4' 1
done
ok "all zero is a warning and scale 1" \
    warns "all samples of layer 'fc' are zero, or nearly: its scale is 1" \
    digits --data "$work/bad" -o "$work/zero.txt"
ok "and a scale of 1" grep -q 'scale_d: 1$' "$work/zero.txt"
zeros 0 | npy "$work/bad/fc.npy" '<f4' 0
ok "files without elements are no samples" says "its files hold no elements" \
    digits --data "$work/bad" -o "$work/y.txt"
zeros 38 | npy "$work/bad/fc.npy" '<f4' 10
fails 3 "a file that is cut short" digits --data "$work/bad" -o "$work/y.txt"

# 64 MB of samples in one file: the memory must not follow.
zeros 64000000 | npy "$work/bad/fc.npy" '<f4' 16000000
digits --data "$work/bad" -o "$work/y.txt" --stats 2>"$work/stats"
rm "$work/bad/fc.npy"
memory() { awk '/at most/ { m = $(NF - 3) } END { exit !(m > 1 && m < 10) }' \
    "$work/stats"; }
if grep -q __asan_init "$QUANTC"; then
    skip 1 "64 MB in less than 10 MiB: not with a sanitizer"
else
    ok "64 MB in less than 10 MiB" memory
fi

# ---- hfmg, retraining ----

cat >"$work/hfmg.cfg" <<'C'
batch_num : 2
common_config : {
    arq_quantize : { channel_wise : true }
    hfmg_quantize : { num_of_bins : 1024 }
}
override_layer_types : {
    layer_type : "Linear"
    calibration_config : {
        arq_quantize : { channel_wise : false }
        ifmr_quantize : { }
    }
}
C
hfmg() { calibrate "$work/hfmg.cfg" --model "$model" --dialect pytorch "$@"; }
ok "hfmg" hfmg --data "$data" -o "$work/hfmg.txt" --report "$work/hfmg.json"
ok "hfmg: bins are told" grep -q '# bins [0-9]* to [0-9]* of 1024: loss' \
    "$work/hfmg.txt"
hfmg --data "$data" -o "$work/hfmg2.txt" -j4
ok "hfmg: threads change nothing" same "$work/hfmg.txt" "$work/hfmg2.txt"
ok "hfmg cannot be split" says "it cannot be split into shards" \
    hfmg --data "$data" --partial "$work/y.qobs"

retrain() { calibrate "$top/examples/digits/config.json" --model "$model" "$@"; }
ok "first limits of ULQ" retrain --data "$work/first" -o "$work/ulq.txt"
ok "as clips for config.json" grep -q '# clip_max: [0-9.]*, clip_min: ' \
    "$work/ulq.txt"
ok "with zero point" grep -q 'offset_d: -128' "$work/ulq.txt"
sed 's/"algo":"ulq_quantize",/&"clip_max":3.0,"clip_min":-1.0,/' \
    "$top/examples/digits/config.json" >"$work/clips.json"
given() {
    mkdir -p "$work/empty"
    calibrate "$work/clips.json" --model "$model" --data "$work/empty" \
        -o "$work/clips.txt" &&
        grep -q '# given clip_max: 3, clip_min: -1' "$work/clips.txt" &&
        grep -q 'scale_d: 0.0156862754' "$work/clips.txt" &&
        grep -q 'offset_d: -64' "$work/clips.txt"
}
ok "given clips need no samples" given

# ---- shards ----

index "$work/a" 0.npy
index "$work/b" 1.npy
mkdir -p "$work/c"
echo '{}' >"$work/c/index.json"
shard() { # shard NAME OPTIONS...
    _name=$1
    shift
    digits --data "$work/$_name" --partial "$work/$_name.qobs" "$@"
}
merge() { "$QUANTC" merge "$@" -o "$work/merged.txt"; }
ok "a shard leaves its state" shard a
ok "and another one" shard b
ok "a shard without samples is an error" says "an empty shard" shard c
ok "unless it is allowed" warns "an empty shard" shard c --allow-uncalibrated
fails 5 "layers that bounded states cannot decide ask for another round" \
    merge "$work/a.qobs" "$work/b.qobs" "$work/c.qobs"
ok "no record yet" absent "$work/merged.txt"
again=$work/merged.txt.again.qobs
again_is() { grep -q "2 of 4 layers need the samples once more" "$work/out"; }
merge "$work/b.qobs" "$work/a.qobs" >"$work/out" 2>&1
ok "how many layers" again_is
cp "$again" "$work/again1.qobs"
merge "$work/c.qobs" "$work/a.qobs" "$work/b.qobs" 2>/dev/null
ok "the order of shards changes nothing" same "$again" "$work/again1.qobs"
cp "$work/a.qobs" "$work/a1.qobs"

# Rounds until there is a record; two at most for these samples after the first.
rounds=1
status=5
while [ $status = 5 ] && [ $rounds -lt 5 ]; do
    for s in a b c; do
        shard $s --resume "$work/again$rounds.qobs" --allow-uncalibrated \
            2>/dev/null
    done
    cp "$work/a.qobs" "$work/round$((rounds + 1)).a.qobs"
    rounds=$((rounds + 1))
    "$QUANTC" merge "$work/a.qobs" "$work/b.qobs" "$work/c.qobs" \
        -o "$work/merged.txt" --report "$work/merged.json" \
        --again "$work/again$rounds.qobs" -j2 2>"$work/merge.err"
    status=$?
done
ok "the record of shards is that of the whole, byte for byte" \
    same "$work/merged.txt" "$whole"
ok "and the report" same "$work/merged.json" "$work/whole.json"
ok "a round is not mixed with another" \
    says "is from round 1" merge "$work/a1.qobs" "$work/b.qobs"
ok "a shard that is missing in a later round is noticed" \
    says "has not the samples of the round before" merge "$work/round2.a.qobs"
ok "a shard is not taken for a result" says "this is a shard" \
    shard a --resume "$work/a1.qobs"

# A second round of other samples: shard a taken for the whole.
other_samples() {
    "$QUANTC" merge "$work/a1.qobs" -o "$work/o.txt" --again "$work/o.again"
    digits --data "$work/a" --partial "$work/o.qobs" --resume "$work/o.again" &&
        says "layer '$1' does not come from the same round as in" \
            merge "$work/o.qobs" "$work/b.qobs"
}
digits --data "$work/b" --partial "$work/b.qobs" --resume "$work/again1.qobs"
ok "rounds over other samples are not mixed: a result" other_samples conv1
ok "rounds over other samples are not mixed: a search" other_samples dw

# A shard takes more batches than batch_num.
calibrate "$work/one.json" --model "$model" --data "$data" \
    --partial "$work/more.qobs"
"$QUANTC" merge "$work/more.qobs" -o "$work/more.txt" --again "$work/more.again" 2>/dev/null
all_used() {
    for _r in 1 2 3; do
        calibrate "$work/one.json" --model "$model" --data "$data" \
            --partial "$work/more.qobs" --resume "$work/more.again" || return 1
        "$QUANTC" merge "$work/more.qobs" -o "$work/more.txt" \
            --again "$work/more.again" 2>"$work/more.err" && break
    done
    same_found "$work/more.txt" "$whole" && grep -q "the shards hold 2 batches of \
layer '.*', 'batch_num' is 1: all are used" "$work/more.err"
}
ok "a shard takes all its batches, with a warning" all_used

# One shard per layer.
states=
for l in $layers; do
    mkdir -p "$work/l"
    echo "{\"$l\": [\"$data/$l/0.npy\", \"$data/$l/1.npy\"]}" \
        >"$work/l/index.json"
    digits --data "$work/l" --partial "$work/l.$l.qobs"
    states="$states $work/l.$l.qobs"
done
fails 5 "split by layer" merge $states
ok "what is asked for is the same" same "$again" "$work/again1.qobs"
ok "a layer that no shard has" says "no shard has samples of the input of layer" \
    sh -c "'$QUANTC' merge '$work/l.conv1.qobs' -o '$work/y.txt'"

# ---- shards that do not belong together ----

cp "$work/a1.qobs" "$work/a2.qobs"
ok "the same shard twice" says "a shard must be given once" \
    merge "$work/a1.qobs" "$work/a2.qobs"
differs() { # differs FIELD SED
    sed "$2" "$config" >"$work/other.json"
    calibrate "$work/other.json" --model "$model" --data "$work/b" \
        --partial "$work/other.qobs"
    ok "shards differ in $1" says "'$1'" merge "$work/a1.qobs" "$work/other.qobs"
}
differs max_percentile 's/"max_percentile": 0.9999,/"max_percentile": 0.999,/'
differs min_percentile 's/"min_percentile": 0.9999,/"min_percentile": 0.999,/'
differs search_step 's/"search_step": 0.01,/"search_step": 0.02,/'
differs search_range_start 's/0\.7$/0.75/; s/0\.7,$/0.75,/'
differs asymmetric 's/"asymmetric": true/"asymmetric": false/'
differs dst_type 's/"num_bits": 4,/"num_bits": 8,/'
differs channel_wise 's/"channel_wise": true/"channel_wise": false/'
differs batch_num 's/"batch_num": 2/"batch_num": 3/'
differs scale_w 's/"do_fusion": true/"do_fusion": false/'
sed '/"pw": {/,/^  }/s/"quant_enable": true/"quant_enable": false/' "$config" \
    >"$work/other.json"
calibrate "$work/other.json" --model "$model" --data "$work/b" \
    --partial "$work/other.qobs"
ok "shards differ in their layers" says "layer 3 is 'pw' in" \
    merge "$work/a1.qobs" "$work/other.qobs"
digits --data "$work/b" --partial "$work/other.qobs" --exact-loss
ok "shards differ in --exact-loss" says "--exact-loss is" \
    merge "$work/a1.qobs" "$work/other.qobs"
sed 's/"max_percentile": 0.9999,/"max_percentile": 0.999,/' "$config" \
    >"$work/percent.json"
ok "the configuration differs from that of --resume" says "'max_percentile'" \
    calibrate "$work/percent.json" --model "$model" --data "$work/b" \
    --partial "$work/y.qobs" --resume "$work/again1.qobs"
size=$(wc -c <"$work/a1.qobs")
for n in 0 7 8 20 23 $((size / 2)) $((size - 1)); do
    head -c "$n" "$work/a1.qobs" >"$work/cut.qobs"
    ok "cut to $n bytes" says "cannot use this file" merge "$work/cut.qobs"
done
{
    cat "$work/a1.qobs"
    echo
} >"$work/cut.qobs"
ok "something behind the end" says "stands behind its end" merge "$work/cut.qobs"
{
    head -c 200 "$work/a1.qobs"
    printf '\125'
    tail -c +202 "$work/a1.qobs"
} >"$work/cut.qobs"
ok "a changed byte" says "its checksum does not fit" merge "$work/cut.qobs"
{
    head -c 8 "$work/a1.qobs"
    printf '\001'
    tail -c +10 "$work/a1.qobs"
} >"$work/cut.qobs"
ok "another version" says "its form is version 1" merge "$work/cut.qobs"
ok "not a state at all" says "it is no state of a calibration" merge "$whole"
fails 3 "a shard that is not there" merge "$work/none.qobs"
fails 2 "no shard" "$QUANTC" merge

# ---- MPI ----

mpi=$top/examples/calibrate/mpi.sh
if has mpirun; then
    mkdir -p "$work/mpi/0" "$work/mpi/1"
    cp "$work/a/index.json" "$work/mpi/0"
    cp "$work/b/index.json" "$work/mpi/1"
    ok "mpirun of two processes" env OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        QUANTC="$QUANTC" sh "$mpi" 2 "$config" "$model" "$work/mpi" \
        "$work/mpi.txt"
    ok "gives the record of one" same "$work/mpi.txt" "$whole"
else
    skip 2 "mpirun of two processes: no mpirun (Debian: openmpi-bin)"
fi
mkdir -p "$work/x/0" "$work/x/1" "$work/x/2"
cp "$work/a/index.json" "$work/x/0"
cp "$work/b/index.json" "$work/x/1"
rmdir "$work/x/2"
ok "shards through xargs" env QUANTC="$QUANTC" \
    sh "$top/examples/calibrate/shards.sh" "$config" "$model" "$work/x" \
    "$work/xargs.txt"
ok "give the record of one" same "$work/xargs.txt" "$whole"

# ---- the real models ----

# Floats within 2 units of the last place, everything else equal.
near() {
    awk 'function key(x) { return x ~ /scale_d/ }
        NR == FNR { want[NR] = $0; n = NR; next }
        { if ($0 == want[FNR]) next
          split($0, a, ": "); split(want[FNR], b, ": ")
          d = a[2] / b[2] - 1
          if (!key($0) || a[1] != b[1] || d > 2.4e-7 || d < -2.4e-7) {
              print FNR ": " $0 " instead of " want[FNR]; bad = 1 } }
        END { exit bad || FNR != n }' "$1" "$2"
}
models=$QC_SHARED/models
if [ -d "$models" ]; then
    for m in "$models"/*/expect/record.txt; do
        dir=${m%/expect/record.txt}
        name=$(basename "$dir")
        calibrate "$dir/quant.cfg" --model "$dir/model.onnx" \
            --data "$dir/activations" -o "$work/$name.txt" \
            --report "$work/$name.json" --stats 2>"$work/$name.err"
        plain "$work/$name.txt" >"$work/$name.plain"
        ok "$name: scale_w, offset_d, and scale_d to 2 ulp" \
            near "$m" "$work/$name.plain"
        grep 'at most' "$work/$name.err" | sed "s/^quantc:/$name:/"
        if has python3; then
            ok "$name: the same candidates" python3 - "$work/$name.json" \
                "$dir/expect/ifmr_detail.json" <<'P'
import json, sys
have, want = (json.load(open(f)) for f in sys.argv[1:])
have = have["layers"]
assert list(have) == list(want), (list(have), list(want))
for name, w in want.items():
    h = have[name]
    assert h["index"] == w["index"], (name, h["index"], w["index"])
    assert h["samples"] == w["n"] and h["candidates"] == w["candidates"]
    assert abs(h["loss"] - w["loss"]) <= h["loss_error"] + 1e-6 * w["loss"]
P
        else
            skip 1 "$name: candidates: no python3"
        fi
    done
else
    skip 20 "the real models: no shared folder"
fi
finish
