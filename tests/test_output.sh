#!/bin/sh
# Outputs are whole or not there: unwritable folders, full disks, faulty
# inputs; and the exit status says what went wrong.
. "$(dirname "$0")/lib.sh"

d=examples/digits
cp $d/quant.cfg $d/model.onnx $d/record.txt "$work"
cd "$work" || exit 1
compile() { "$QUANTC" compile "$1" --model model.onnx --record record.txt -o "$2"; }

# ---- old outputs survive a faulty input ----
ok "first run" compile quant.cfg out
cp -r out before
sed 's/search_step/search_stp/' quant.cfg >bad.cfg
fails 1 "a faulty input is status 1" compile bad.cfg out
ok "old outputs are as they were" diff -r before out
ok "no temporary is left" sh -c '[ "$(ls -A out | wc -l)" = 3 ]'
fails 1 "a faulty input makes no folder" compile bad.cfg never
ok "no folder" test ! -e never

# ---- equal outputs keep their time ----
touch -d '2001-01-01' out/quant_tables.c out/quant_tables.h out/quant_tables.d
ok "second run" compile quant.cfg out
ok "equal tables are not touched" sh -c '[ -z "$(find out -name "quant_tables.[ch]" -newermt 2002-01-01)" ]'
ok "the depfile is renewed" sh -c '[ -n "$(find out -name "quant_tables.d" -newermt 2002-01-01)" ]'

# ---- places that cannot be written ----
echo file >plain
fails 3 "the folder is a file" compile quant.cfg plain
fails 3 "below a file" compile quant.cfg plain/sub
ok "the file is as it was" sh -c '[ "$(cat plain)" = file ]'
mkdir -p target/quant_tables.c
fails 3 "a folder in the target's place" compile quant.cfg target
ok "nothing else was written there" sh -c '[ "$(ls -A target)" = quant_tables.c ]'
ln -s elsewhere.json link.json && echo old >elsewhere.json
ok "a link as output" "$QUANTC" compile quant.cfg --model model.onnx -o linked --plan link.json
ok "the link stays, its target is written" sh -c '[ -h link.json ] && grep -q layers elsewhere.json'
ok "a device as output" "$QUANTC" compile quant.cfg --model model.onnx -o linked --plan /dev/null
ok "the device stays" test -c /dev/null
# Root writes everywhere: then it is somebody else who tries.
locked=$(mktemp -d)
cp "$QUANTC" quant.cfg model.onnx "$locked"
chmod -R a+rX "$locked"
mkdir "$locked/out" && chmod 555 "$locked/out"
nobody=
[ "$(id -u)" = 0 ] && nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
# shellcheck disable=SC2086
if [ -z "$nobody" ] || $nobody true 2>/dev/null; then
    fails 3 "read-only folder" $nobody "$locked/quantc" compile "$locked/quant.cfg" --model "$locked/model.onnx" -o "$locked/out"
    ok "read-only folder: nothing is left" sh -c '[ -z "$(ls -A "$0")" ]' "$locked/out"
else
    skip 2 "root, and no setpriv: read-only folder"
fi
rm -rf "$locked"
if [ -w /dev/full ]; then
    fails 3 "standard output on a full disk" sh -c '"$0" layers model.onnx >/dev/full' "$QUANTC"
    fails 3 "config on a full disk" sh -c '"$0" config quant.cfg --model model.onnx >/dev/full' "$QUANTC"
else
    skip 2 "no /dev/full"
fi
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
    fails 3 "full disk" compile quant.cfg small/out
    ok "full disk: nothing is left" sh -c '[ -z "$(find small -type f)" ]'
    umount small
else
    skip 2 "no tmpfs can be mounted: full disk"
fi

# ---- inputs that cannot be read ----
fails 3 "missing configuration" compile none.cfg out
fails 3 "a folder as configuration" compile out out
fails 3 "missing model" "$QUANTC" compile quant.cfg --model none.onnx -o out
fails 3 "missing record" "$QUANTC" compile quant.cfg --model model.onnx --record none.txt -o out
fails 1 "a truncated model" sh -c 'head -c 9000 model.onnx >cut.onnx && "$0" compile quant.cfg --model cut.onnx -o out' "$QUANTC"
fails 1 "a foreign model" "$QUANTC" compile quant.cfg --model quant.cfg -o out
fails 1 "an empty model" sh -c ': >empty.onnx && "$0" layers empty.onnx' "$QUANTC"
fails 1 "quant.cfg without a model" "$QUANTC" compile quant.cfg -o out
ok "and the error says what to give" sh -c '"$0" compile quant.cfg -o out 2>&1 | grep -q -- "--model"' "$QUANTC"
echo 'common_config { ifmr_quantize { search_step: 0.02 } }' >plain.cfg
ok "the record's keys serve as layers" "$QUANTC" compile plain.cfg --record record.txt -o from-record
echo 'common_config { arq_quantize { channel_wise: true } }' >wise.cfg
ok "and decide what common_config may ask of them" "$QUANTC" compile wise.cfg --record record.txt -o from-record

# ---- command lines ----
fails 2 "no command" "$QUANTC"
fails 2 "unknown command" "$QUANTC" compil quant.cfg
fails 2 "unknown option" "$QUANTC" compile quant.cfg --modle model.onnx
ok "unknown option: suggestion" sh -c '"$0" compile quant.cfg --modle m 2>&1 | grep -q "did you mean .--model"' "$QUANTC"
fails 2 "option of another command" "$QUANTC" layers model.onnx --record record.txt
fails 2 "value missing" "$QUANTC" compile quant.cfg --model
fails 2 "too many files" "$QUANTC" compile quant.cfg record.txt
ok "a model in the wrong place: hint" sh -c '"$0" compile quant.cfg model.onnx 2>&1 | grep -q "given with --model" && "$0" check model.onnx 2>&1 | grep -q "given with --model"' "$QUANTC"
fails 2 "--max-errors wants a number" "$QUANTC" check quant.cfg --max-errors abc
fails 2 "model and layers" "$QUANTC" compile quant.cfg --model model.onnx --layers l
fails 2 "prefix that is no C name" "$QUANTC" compile quant.cfg --model model.onnx --prefix 1a
fails 2 "prefix of the runtime" "$QUANTC" compile quant.cfg --model model.onnx --prefix qrt
fails 2 "unknown check" "$QUANTC" check quant.cfg -Wno-such.check
ok "--name=value" "$QUANTC" compile quant.cfg --model=model.onnx --prefix=net -o=eq
ok "--prefix names files and symbols" sh -c 'grep -q "net_layers\[NET_LAYER_COUNT\]" eq/net_tables.h && ! grep -q -i quant_ eq/net_tables.h'
ok "--version" sh -c '"$0" --version | grep -qE "^quantc [0-9]+\.[0-9]+\.[0-9]+$"' "$QUANTC"

# usage_of COMMAND ARGUMENTS...: status 2, and the command's usage
usage_of() {
    _usage=$("$QUANTC" "$1" --help | head -n 1)
    "$QUANTC" "$@" 2>usage.err
    [ $? = 2 ] && [ "$(sed -n '$p' usage.err)" = "usage: $_usage" ]
}
ok "usage: compile" usage_of compile
ok "usage: image without -o" usage_of image quant.cfg --model model.onnx
ok "usage: calibrate without a model" usage_of calibrate quant.cfg
ok "usage: calibrate without data" usage_of calibrate quant.cfg --model model.onnx
ok "usage: merge" usage_of merge
ok "usage: schema" usage_of schema
ok "usage: config without anything" usage_of config
ok "usage: two files against a model" usage_of check quant.cfg record.txt --model model.onnx
ok "usage: model and layers" usage_of compile quant.cfg --model model.onnx --layers l
ok "a model is enough" "$QUANTC" compile --model model.onnx --batch-num 2 -Wno-res.not-calibrated -o bare
ok "with its options" grep -q 'batch_num  *= *2\|, *2, */\* *batch_num\|batch_num.* 2' bare/quant_tables.c
same_help() { "$QUANTC" help $1 >help.1 && "$QUANTC" ${1:+"$1"} --help | cmp - help.1; }
for command in "" compile check diff merge; do
    ok "help $command" same_help "$command"
done
fails 2 "help of no command" "$QUANTC" help compil

# ---- a calibrated layer that is missing ----
awk 'BEGIN { RS = "}\n}\n"; ORS = "}\n}\n" } !/"pw"/ { print }' record.txt >partial.txt
ok "a layer without factors is a warning" sh -c '"$0" compile quant.cfg --model model.onnx --record partial.txt -o part 2>&1 | grep -q "warning.*pw"' "$QUANTC"
ok "its row is marked" grep -q '"pw".*not calibrated' part/quant_tables.h
fails 1 "--require-factors makes it an error" "$QUANTC" compile quant.cfg --model model.onnx --record partial.txt --require-factors -o part2

# ---- images ----
ok "image" "$QUANTC" image quant.cfg --model model.onnx --record record.txt -o quant.img
ok "show" sh -c '"$0" show quant.img | grep -q "^conv1"' "$QUANTC"
fails 2 "image without -o" "$QUANTC" image quant.cfg --model model.onnx
fails 1 "a damaged image" sh -c '(head -c 200 quant.img; printf x; tail -c +202 quant.img) >bad.img && "$0" show bad.img' "$QUANTC"
fails 1 "a foreign image" "$QUANTC" show model.onnx
finish
