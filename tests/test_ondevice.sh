#!/bin/sh
# The loop of examples/ondevice: a record that was made on a device (emulated,
# or else this host) is read by quantc, and the network compiled with it is as
# good as the one calibrated exactly.
. "$(dirname "$0")/lib.sh"

out=$BUILD/ondevice
if has arm-none-eabi-gcc && has qemu-system-arm; then
    where="device and host print the same record"
else
    skip 1 "on a Cortex-M4: no arm-none-eabi-gcc or qemu-system-arm"
    where="the host's part"
fi
ok "demo" sh examples/ondevice/demo.sh "$QUANTC" "$CC" "$BUILD"
cp "$work/.log" "$work/demo.txt"
[ "${where#the host}" != "$where" ] || ok "$where" grep -q "the device printed the same record" "$work/demo.txt"
good() { [ "$(sed -n 's/^int8: *\([0-9]*\) of 500.*/\1/p' "$work/demo.txt")" -ge 489 ]; }
ok "at most one point below float" good
ok "quantc check" "$QUANTC" check --werror "$out/record.txt"
ok "quantc check, AMCT's verdict" "$QUANTC" check --werror --compat amct "$out/record.txt"
ok "it says how" sh -c '[ "$(grep -cE "^ *# IFMR on [0-9]+ samples, (exact|histogram)" "$1")" = 4 ]' - "$out/record.txt"
head_is() {
    for role in config model; do
        sed -n "s/^ \*   \($role .*\)/#   \1/p" "$out/recipe/quant_tables.h"
    done >"$work/head"
    head -n 2 "$out/record.txt" | cmp - "$work/head" && [ "$(wc -l <"$work/head")" = 2 ]
}
ok "and what it was made from, as the tables say it" head_is
stale() { # stale WHAT CONFIG MODEL: refused, naming it
    "$QUANTC" compile "$2" --model "$3" --record "$out/record.txt" -o "$work/stale" 2>"$work/stale.err"
    [ $? = 1 ] && [ ! -e "$work/stale" ] && grep -q "record.txt:[12]:1: error: the record was made $1" "$work/stale.err"
}
{
    echo 'batch_num : 3'
    cat examples/digits/quant.cfg
} >"$work/quant.cfg"
{
    cat examples/digits/model.onnx
    printf '\172\000' # field 15, empty: nobody reads it
} >"$work/model.onnx"
ok "another configuration is told" stale "with another configuration" "$work/quant.cfg" examples/digits/model.onnx
ok "another model is told" stale "from another model" examples/digits/quant.cfg "$work/model.onnx"
if has protoc; then
    message=$(sed -n 's/^message \(ScaleOffsetRecord[A-Za-z]*\).*/\1/p' proto/scale_offset_record.proto | head -n 1)
    package=$(sed -n 's/^package \(.*\);/\1./p' proto/scale_offset_record.proto)
    readable() {
        protoc --encode="$package$message" --proto_path=proto proto/scale_offset_record.proto \
            <"$out/record.txt" >"$work/record.pb"
    }
    ok "the text format as protoc reads it" readable
else
    skip 1 "no protoc"
fi
# Steps of the weights are those of the exact record, to half a unit of the
# decimals; steps of the activations are near.
numbers() { sed -n "s/^ *$1: *//p" "$2"; }
same_weights() {
    numbers scale_w "$1" >"$work/w1"
    numbers scale_w "$2" >"$work/w2"
    paste "$work/w1" "$work/w2" | awk '{ d = $1 / $2 - 1; if (d > 6e-8 || d < -6e-8) { print; bad = 1 } } END { exit bad || NR != 57 }'
}
near() {
    numbers scale_d "$1" >"$work/d1"
    numbers scale_d "$2" >"$work/d2"
    paste "$work/d1" "$work/d2" | awk '{ d = $1 / $2 - 1; if (d > 0.03 || d < -0.03) { print; bad = 1 } } END { exit bad || NR != 4 }'
}
ok "steps of the weights" same_weights "$out/record.txt" examples/digits/record.txt
ok "steps of the activations" near "$out/record.txt" examples/digits/record.txt
finish
