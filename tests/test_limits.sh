#!/bin/sh
# Hostile inputs cost time and memory in proportion to their size: each file is
# tried at two sizes, one four times the other. And the limits are there.
. "$(dirname "$0")/lib.sh"

top=$PWD
"$CC" -std=gnu99 -O2 tests/limits/measure.c -o "$work/measure" &&
    "$CC" -std=gnu99 -O2 -Wno-format-nonliteral tests/limits/hostile.c -o "$work/hostile" || {
    echo "the generators cannot be built"
    exit 1
}
cd "$work" || exit 1
echo 'common_config { ifmr_quantize { search_step: 0.05 } }' >one.cfg
./hostile layers 20 | sed 's/layer_/unit_/' >few.layers

# linear KIND N ARGS...: '@' is the file
linear() {
    kind=$1
    size=$2
    shift 2
    ./hostile "$kind" "$size" >small && ./hostile "$kind" $((size * 4)) >big || return 1
    ./measure small big "$QUANTC" "$@"
    status=$?
    rm -rf small big out
    return $status
}
json="check --kind json-syntax @"
retrain="check --kind json-retrain @"
text="check --kind calib @"
# shellcheck disable=SC2086
{
    ok "a million brackets" linear open-json 250000 $json
    ok "a million objects" linear object-json 250000 $json
    ok "a million closing brackets" linear close-json 250000 $json
    ok "many empty lists" linear pairs-json 100000 $json
    ok "a million commas" linear commas-json 250000 $json
    ok "a million quotes" linear quotes-json 250000 $json
    ok "words that are not JSON" linear words-json 100000 $json
    ok "100,000 layers" linear keys-json 25000 $retrain
    ok "100,000 equal keys" linear same-json 25000 $retrain
    ok "100,000 keys made to collide" linear colliding 25000 $retrain
    ok "a number of a million digits" linear digits-json 250000 $json
    ok "text: braces" linear open-text 250000 $text
    ok "text: groups in groups" linear fields-text 250000 $text
    ok "text: closing braces" linear close-text 250000 $text
    ok "text: lists" linear lists-text 250000 $text
    ok "text: angles" linear angles-text 250000 $text
    ok "text: colons" linear colons-text 250000 $text
    ok "text: adjacent strings" linear strings-text 250000 $text
    ok "text: signs" linear minus-text 250000 $text
    ok "text: the same field" linear same-text 50000 $text
    ok "text: the same field, on one line" linear same-line-text 50000 $text
    ok "text: unknown fields" linear unknown-text 25000 $text
    ok "text: bytes that are no UTF-8" linear bad-bytes 250000 $text
    ok "text: digits" linear digits-text 250000 $text
    ok "skipped layers that do not exist" linear skip-text 10000 check @ --layers few.layers
    ok "overridden layers that do not exist" linear override-text 2500 check @ --layers few.layers
    ok "overridden types that do not exist" linear types-text 2500 check @ --layers few.layers
    ok "configured layers that do not exist" linear keys-json 10000 check @ --kind json-retrain --layers few.layers
    ok "records" linear record 5000 compile --record @ -o out
    ok "one record many times" linear same-record 10000 check --kind record @
    ok "scales" linear scales-record 50000 check --kind record @
    ok "layers" linear layers 5000 compile one.cfg --layers @ -o out
    ok "layers that lead to themselves" linear chained-layers 2500 compile one.cfg --layers @ -o out
    ok "layers in JSON" linear layers-json 10000 check --kind layers @
    ok "a graph of copies" linear identity.onnx 10000 compile one.cfg --model @ -o out
    ok "a graph of activations" linear relu.onnx 10000 compile one.cfg --model @ -o out
    ok "a graph of layers" linear conv.onnx 2000 compile one.cfg --model @ -o out
    ok "a graph of sums of all before" linear residual.onnx 2000 compile one.cfg --model @ -o out
    ok "a tensor with many readers" linear fan.onnx 5000 layers @
    ok "a sum of many" linear sum.onnx 5000 layers @
    ok "a graph in a circle" linear cyclic.onnx 10000 layers @
    ok "graphs in graphs" linear nested.onnx 1000 layers @
}

# ---- memory that runs out ----
./hostile pairs-json 1000000 >pairs.json
no_memory() { # no_memory ARGUMENT...: status 4 and a line, in 40 MB
    (ulimit -v 40000 && "$QUANTC" "$@") 2>err
    [ $? = 4 ] && [ "$(cat err)" = "quantc: out of memory" ] || {
        cat err
        return 1
    }
}
if (ulimit -v 40000) 2>/dev/null && (ulimit -v 40000 && "$QUANTC" --version) >/dev/null 2>&1; then
    ok "out of memory is status 4" no_memory check --kind json-syntax pairs.json
else
    skip 1 "the address space cannot be limited"
fi
rm -f pairs.json

# ---- limits ----
says() { # says STATUS TEXT ARGS...
    want=$1
    pattern=$2
    shift 2
    "$QUANTC" "$@" >/dev/null 2>err
    [ $? = "$want" ] && grep -q "$pattern" err
}
./hostile open-json 65 >deep.json
ok "65 brackets" says 1 'deep.json:1:65: .*lim.depth' check --kind json-syntax deep.json
awk 'BEGIN { for (i = 0; i < 64; i++) printf "["; for (i = 0; i < 64; i++) printf "]" }' >deep.json
ok "64 brackets" "$QUANTC" check --kind json-syntax deep.json
./hostile nested.onnx 100 >nested.onnx
ok "graphs 100 deep" says 1 'nested.onnx' layers nested.onnx
./hostile strings-text 1 >string.cfg
{ printf 'skip_layers: "'; head -c 1048577 /dev/zero | tr '\0' a; echo '"'; } >string.cfg
ok "a string of a megabyte and a byte" says 1 'lim.string' check --kind calib string.cfg
{ printf '{"a": "'; head -c 1048577 /dev/zero | tr '\0' a; echo '"}'; } >string.json
ok "the same in JSON" says 1 'string.json:1:7: .*lim.string' check --kind json-syntax string.json
./hostile cyclic.onnx 1 >self.onnx
ok "a node that reads what it makes" says 1 'model.cycle' layers self.onnx
./hostile unknown-text 21 >many.cfg
ok "21 errors: the last is not shown" says 1 '^quantc: many.cfg: too many errors$' check --kind calib many.cfg
ok "21 errors: 20 are" sh -c '[ "$(grep -c "^many.cfg:.*: error: " err)" = 20 ]'
"$QUANTC" check --kind calib --max-errors 0 many.cfg 2>err
ok "--max-errors 0: all are" sh -c '[ "$(grep -c "^many.cfg:.*: error: " err)" = 21 ]'
truncate -s 67108865 large.cfg
ok "a file of 64 MiB and a byte" says 1 'lim.file' check --kind calib large.cfg
head -c 67108865 /dev/zero | "$QUANTC" check --kind calib /dev/stdin 2>err
ok "the same through a pipe" grep -q lim.file err
rm -f large.cfg
# The seconds are a bound for hangs, not a measurement.
slowly() { # slowly KIND N ARGS...
    kind=$1
    size=$2
    shift 2
    ./hostile "$kind" "$size" >huge && ./measure 60 huge "$QUANTC" "$@"
    status=$?
    rm -f huge
    return $status
}
ok "64 MiB of blanks" slowly blanks 13421772 check --kind calib @
ok "64 MiB of brackets" slowly open-json 67108864 check --kind json-syntax @
ok "60 MB of lists" slowly pairs-json 10000000 check --kind json-syntax @
./hostile sparse.onnx 2147483648 >sparse.onnx
if truncate -s 2147483648 sparse.onnx 2>/dev/null; then
    ok "a model of 2 GiB with absurd lengths" ./measure 20 sparse.onnx "$QUANTC" layers @
    truncate -s 2147483649 sparse.onnx
    ok "a model of 2 GiB and a byte" says 1 'lim.file' layers sparse.onnx
else
    skip 2 "no sparse files here: models of 2 GiB"
fi
# An array of 2^62 floats in a file of 2 GiB; the same as state of calibration.
mkdir samples
printf '\223NUMPY\001\000V\000%-85s\n' \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }" >samples/conv1.npy
if truncate -s 2147483648 samples/conv1.npy 2>/dev/null; then
    ok "samples with an absurd shape" says 3 'its shape is too large' \
        calibrate one.cfg --model "$top/examples/digits/model.onnx" --data samples -o record.txt
    mv samples/conv1.npy state.qobs
    ok "a state of 2 GiB" says 1 'lim.file' merge state.qobs -o record.txt
    ok "no record is left" [ ! -e record.txt ]
else
    skip 3 "no sparse files here: samples of 2 GiB"
fi
rm -f state.qobs
rm -f sparse.onnx
finish
