#!/bin/sh
# What changed, and which line did it: configurations, records, plans, images.
. "$(dirname "$0")/lib.sh"

d=$PWD/examples/digits
cd "$work" || exit 1
cp $d/quant.cfg a.cfg
sed 's/search_step : 0.01/search_step : 0.02/; s/channel_wise : true/channel_wise : false/' a.cfg >b.cfg
m="--model $d/model.onnx"
says() { # says PATTERN COMMAND...: status 1, and the output has the pattern
    p=$1
    shift
    "$@" >said 2>&1
    [ $? = 1 ] && grep -qE "$p" said
}
# shellcheck disable=SC2086
{
ok "equal configurations: status 0, no output" sh -c 'test -z "$("$0" diff a.cfg a.cfg $1)"' "$QUANTC" "$m"
ok "a step" says '^  search_step +0.01 \(a.cfg:11, common_config\) -> 0.02 \(b.cfg:11, common_config\)' "$QUANTC" diff a.cfg b.cfg $m
ok "under its layer" says '^conv1$' "$QUANTC" diff a.cfg b.cfg $m
ok "channel_wise" says '^  channel_wise +true .* -> false' "$QUANTC" diff a.cfg b.cfg $m
ok "a layer that is not concerned" sh -c '! "$0" diff a.cfg b.cfg $1 | grep -q "^fc$"' "$QUANTC" "$m"
fails 1 "faulty configuration" sh -c 'echo "x" >bad.cfg; "$0" diff a.cfg bad.cfg $1' "$QUANTC" "$m"
ok "forms may differ" says 'algorithm +ifmr -> ulq_quantize' "$QUANTC" diff a.cfg $d/config.json $m

cp $d/record.txt a.txt
sed '6s/: .*/: 0.5/; 3s/offset/offset/' a.txt >b.txt
awk '/"pw"/ { sub("pw", "px") } { print }' b.txt >c.txt
ok "equal records" "$QUANTC" diff a.txt a.txt
ok "a scale of a record" says '^  scale_w\[0\] +[0-9.]+ \(a.txt:6\) -> 0.5 \(b.txt:6\)' "$QUANTC" diff a.txt b.txt
ok "a layer of one record only" says 'only in c.txt' "$QUANTC" diff a.txt c.txt
fails 1 "a record and a configuration" "$QUANTC" diff a.txt a.cfg
ok "says which is which" sh -c '"$0" diff a.cfg a.txt 2>&1 | grep -q "a.cfg is a configuration, a.txt is a record"' "$QUANTC"
ok "no model: says so at the first file, once" says '^a.cfg:1:1: error: a.cfg does not name the layers' "$QUANTC" diff a.cfg b.cfg
ok "and what to give" grep -q 'help: give --model M.onnx or --layers M.layers: ' said
ok "once" sh -c '[ "$(grep -c error: said)" = 1 ]'
ok "no model: config.json names its layers, quant.cfg does not" says '^a.cfg:1:1: error: a.cfg does not name the layers' "$QUANTC" diff $d/config.json a.cfg
ok "two config.json need none" "$QUANTC" diff $d/config.json $d/config.json
fails 3 "a missing file" "$QUANTC" diff a.txt none.txt

"$QUANTC" compile a.cfg $m --record a.txt -o A --plan A/plan.json 2>/dev/null
sed '3s/true/false/' b.cfg >e.cfg
"$QUANTC" compile a.cfg $m --record b.txt -o B --plan B/plan.json 2>/dev/null
"$QUANTC" image a.cfg $m --record a.txt -o A/quant.img 2>/dev/null
"$QUANTC" image a.cfg $m --record b.txt -o B/quant.img 2>/dev/null
ok "equal images" "$QUANTC" diff A/quant.img A/quant.img
ok "images" says '^\+  scale_w\[0\] +0.5$' "$QUANTC" diff A/quant.img B/quant.img
ok "images: which input moved" says '^\+  record +crc32 [0-9a-f]{8}$' "$QUANTC" diff A/quant.img B/quant.img
ok "and which did not" sh -c '! grep -q " model  *crc32" said'
fails 1 "an image and a record" "$QUANTC" diff A/quant.img a.txt
if [ -f A/plan.json ]; then
    ok "an image and its plan" "$QUANTC" diff A/quant.img A/plan.json
    ok "an image and another plan" says '^\+  scale_w\[0\] +0.5 \(b.txt:2\)$' "$QUANTC" diff A/quant.img B/plan.json
    fails 1 "a plan and a record" "$QUANTC" diff A/plan.json a.txt
    ok "says which is which" sh -c '"$0" diff A/plan.json a.txt 2>&1 | grep -q "A/plan.json is an image, tables or a plan, a.txt is something else"' "$QUANTC"
    ok "equal plans" "$QUANTC" diff A/plan.json A/plan.json
    ok "plans" says 'scale_w_bits\[0\] .*0x3F000000' "$QUANTC" diff A/plan.json B/plan.json
else
    skip 4 "quantc was built without cJSON"
fi
}
# ---- records: every factor of an entry ----
cat >left.txt <<'END'
record { key: "a" value { scale_d: 0.5 offset_d: 3 scale_w: [0.1, 0.2] offset_w: [0, 0] } }
record { key: "b" value { scale_d: 0.5 offset_d: 0 scale_w: 0.1 offset_w: 0 } }
record { key: "d" value { scale_d: 0.5 offset_d: 0x10 scale_w: [0.10, 0.2] offset_w: [0, 0] act_type: "INT8" skip_fusion: true } }
record { key: "e" value { scale_d: 0.5 offset_d: 0x10 scale_w: [0.10, 0.2] offset_w: [0, 0] act_type: "INT8" skip_fusion: true } }
END
cat >right.txt <<'END'
record { key: "a" value { scale_d: 0.25 offset_d: 4 scale_w: 0.1 offset_w: 0 } }
record { key: "c" value { scale_d: 0.5 offset_d: 0 scale_w: 0.1 offset_w: 0 } }
record { key: "d" value { scale_d: 5e-1 offset_d: 16 scale_w: [0.1, 0.3] offset_w: [0, 0] act_type: "INT16" } }
record { key: "e" value { scale_d: 0.50 offset_d: 16 scale_w: [0.1, 0.2] offset_w: [0, 0] act_type: "INT8" skip_fusion: True } }
END
cat >factors.expected <<'END'
a
  scale_d            0.5 (left.txt:1) -> 0.25 (right.txt:1)
  offset_d           3 (left.txt:1) -> 4 (right.txt:1)
  scale_w            2 values -> 1 value
  offset_w           2 values -> 1 value
b
  only in left.txt
d
  scale_w[1]         0.2 (left.txt:3) -> 0.3 (right.txt:3)
  act_type           INT8 (left.txt:3) -> INT16 (right.txt:3)
  skip_fusion        true (left.txt:3) -> not given
c
  only in right.txt
END
"$QUANTC" diff left.txt right.txt >factors.out
ok "records: each factor that differs, and where" diff factors.expected factors.out
printf 'record { key: "a" value { scale_d: 0.5 offset_d: %s scale_w: 0.1 offset_w: 0 } }\n' 3 >three.txt
sed 's/offset_d: 3/offset_d: 4/' three.txt >four.txt
fails 1 "records: another offset alone is a difference" "$QUANTC" diff three.txt four.txt
finish
