#!/bin/sh
# `quantc show` prints tables as it prints the image of the same plan; of what
# is no longer as quantc wrote it, it says where.
. "$(dirname "$0")/lib.sh"

d=$PWD/examples/digits
models=$PWD/tests/models
sed -n '/^record {/p' tests/resolve/joins.case >"$work/joins.txt"
cd "$work" || exit 1
cp $d/quant.cfg $d/record.txt .

# Everything but the first line, which says what it is.
text() { "$QUANTC" show "$1" | tail -n +2; }
same_text() { # same_text NAME WHAT: of the image and of the tables
    text "$1/quant.img" >image.text && text "$1$2" >tables.text && [ -s image.text ] && cmp image.text tables.text
}
both() { # both NAME ARGUMENTS: image and tables, then the same text
    n=$1
    shift
    # shellcheck disable=SC2086 # $table, $image: options of one of the two
    "$QUANTC" compile "$@" $table $plan -o "$n" && "$QUANTC" image "$@" $image -o "$n/quant.img" &&
        same_text "$n" "" && [ -z "$("$QUANTC" diff "$n/quant.img" "$n")" ] && same_plan "$n"
}
same_plan() { # the same text from plan.json, but for words that --no-words left out
    [ -n "$plan" ] || return 0
    text plan.json | grep -vF "${drop:-a line}" >plan.text && cmp image.text plan.text &&
        [ -z "$("$QUANTC" diff "$1" plan.json)" ]
}
plan='' drop=''
if "$QUANTC" compile quant.cfg --model $d/model.onnx --plan plan.json -o try 2>/dev/null; then
    plan='--plan plan.json'
else
    skip 1 "plans: quantc was built without cJSON"
fi
table='' image=''
echo 'common_config { arq_quantize { channel_wise: false } }' >joins.cfg
echo 'skip_layers: "limited" common_config { arq_quantize { channel_wise: false } }' >skip.cfg
sed '/"limited"/d; /"b"/s/0.03125/0.0625/' joins.txt >skip.txt
echo 'common { rule: CANN exactness: BOUNDED hardware_scale: S19_ROUND }' >quantc.options
ok "factors and edges" both ptq quant.cfg --model $d/model.onnx --record record.txt
ok "retraining" both qat $d/config.json --model $d/model.onnx
ok "joins" both joins joins.cfg --model "$models/joins.onnx" --record joins.txt
ok "edges of their own, a skipped layer" both skip skip.cfg --model "$models/joins.onnx" --record skip.txt
ok "not calibrated" both bare quant.cfg --model $d/model.onnx
drop='  word_'
ok "without words" both nowords quant.cfg --model $d/model.onnx --record record.txt --no-words
drop=''
ok "options of a device" both device quant.cfg --model $d/model.onnx --record record.txt --options quantc.options
table='--align 16 --section .tables --selftest --weights' image='--weights'
ok "placed, with vectors and weights" sh -c '
    "$1" compile quant.cfg --model "$2" --record record.txt $3 -o placed &&
    "$1" show ptq >a && "$1" show placed >b && cmp a b' - "$QUANTC" $d/model.onnx "$table"
table='' image=''
if [ -d "$QC_SHARED/models/awkward_names" ]; then
    m=$QC_SHARED/models/awkward_names
    ok "awkward names" both awkward "$m/quant.cfg" --model "$m/model.onnx" --record "$m/expect/record.txt"
else
    skip 1 "no $QC_SHARED/models"
fi
ok "by the header" same_text ptq /quant_tables.h
ok "by the source" same_text ptq /quant_tables.c
ok "another prefix" sh -c '"$1" compile quant.cfg --model "$2" --record record.txt --prefix net -o net &&
    "$1" show net/net_tables.h | tail -n +2 | cmp - image.text' - "$QUANTC" $d/model.onnx
ok "weights of an image" sh -c '"$1" image quant.cfg --model "$2" --record record.txt --weights -o w.img &&
    "$1" show w.img | grep -qx "  codes        144 bytes, order of the model, crc32 [0-9a-f]*" &&
    [ -z "$("$1" diff w.img ptq)" ] && ! "$1" diff w.img ptq/quant.img >said && grep -q "^-  bias  " said' - "$QUANTC" $d/model.onnx
ok "kinds of joins" sh -c '"$1" show joins >j && "$1" show skip >s &&
    grep -qx "  input        the codes that a reads" j &&
    grep -qx "  input        accumulator of stem, by its edge" j &&
    grep -qx "  input        accumulator of a + accumulator of b" j &&
    grep -qx "  input        accumulator of d, then input of d" j &&
    grep -qx "  input        the mean of accumulator of f" j &&
    grep -qx "  input        a table of accumulator of e + accumulator of d" j &&
    grep -qx "  sum          Q16, at least 0, at most 12582912, codes -128 to 127, zero point -3" j &&
    grep -qx "  input        quantized from real numbers" j &&
    grep -q "^  table        -*[0-9]" j && grep -q "^  requant_in   " s' - "$QUANTC"

# ---- what is not as quantc wrote it ----

# broken NAME SED LINE:COL TEXT: quant_tables.c of digits after an edit
broken() {
    rm -rf cut
    mkdir cut
    cp ptq/quant_tables.h cut/
    sed "$2" ptq/quant_tables.c >cut/quant_tables.c
    "$QUANTC" show cut >out 2>err
    _status=$?
    if [ "$_status" = 1 ] && [ ! -s out ] &&
        grep -qF "cut/quant_tables.c:$3: error: these are not tables as quantc writes them: $4 [tables.damaged]" err; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1: exit status $_status"
        head -n 3 err
    fi
}
line() { grep -n "$1" ptq/quant_tables.c | head -n 1 | cut -d: -f1; }
at=$(line 'scale_w_CONV1\[16\] = {')
broken "a title of another form" "1s/,/./" "1:1" "the title does not name the version of quantc"
broken "a scale less" "$((at + 1))d" "$at:50" "a list of 16 values is expected"
broken "a scale of one number" "$((at + 1))s/{[0-9]*, /{/" "$((at + 1)):5" "a list of 2 values is expected"
broken "no number" "$((at + 1))s/{[0-9]*/{x/" "$((at + 1)):6" "a whole number is expected"
broken "an exponent that is too large" "$((at + 1))s/, -6}/, 129}/" "$((at + 1)):18" "a number from -148 to 128 is expected"
broken "a second object" "${at}s/CONV1/DW/; $(line 'scale_w_DW\[16\]')s/CONV1/DW/" "$(line 'scale_w_DW\[16\]'):40" "a second object of this name stands before here"
broken "an array of no name" "s/    scale_w_PW,/    scale_w_PX,/" "$(line '    scale_w_PW,'):5" "the name of an object of type qrt_real is expected"
broken "an array of another type" "s/    scale_w_PW,/    word_dequant_PW,/" "$(line '    scale_w_PW,'):5" "the name of an object of type qrt_real is expected"
broken "a row of too few" "s/{\"fc\", */{/" "$(line '{"fc"'):5" "a list of 15 values is expected"
broken "an unknown type" "s/QRT_OP_LINEAR/QRT_OP_LINEAL/" "$(line '{"fc"'):15" "a type of layer is expected"
broken "an edge without factors" "/{\"dw\"/s/&factors_DW/0/" "$(line '{"dw"'):99" "an edge needs factors"
broken "an edge to no layer" "s/^    3u, .. row of the next/    4u, \/* row of the next/" "$(line '^    3u, .. row of the next'):5" "a number from 0 to 3 is expected"
broken "a term of no layer" "s/^    {0, 0u, 2u/    {0, 0u, 4u/" "$(line '^    {0, 0u, 2u'):13" "a number from 0 to 3 is expected"
broken "a join without its edge" "s/^    &edge_PW,/    0,/" "$(line 'join_FC = {'):40" "an edge is expected"
broken "a kind of join" "s/QRT_JOIN_EDGE/QRT_JOIN_MAYBE/" "$(line 'QRT_JOIN_EDGE'):5" "the name of a number is expected"
broken "an open comment" '$s/$/ \/* /' "$(wc -l <ptq/quant_tables.c | tr -d ' '):4" "a comment has no end"
broken "an open string" 's/{"pw"/{"pw/' "$(line '{"pw"'):6" "a string has no end"
broken "a function" '$s/$/ int main(void)/' "$(wc -l <ptq/quant_tables.c | tr -d ' '):4" "'const' is expected"
broken "no rows" 's/^const struct qrt_tables quant_tables/const struct qrt_tables other_tables/' "1:1" "there is no struct qrt_tables"
ok "where to go from there" grep -q "= help: run 'quantc compile' again" err
ok "a byte that is no UTF-8: nothing is printed" sh -c 'LC_ALL=C sed "2s/.*/ * \\xff/" ptq/quant_tables.c >cut/quant_tables.c
    ! "$0" show cut >out 2>err && [ ! -s out ] && grep -q "lex.bad-utf8" err' "$QUANTC"
sed 's/TABLES_VERSION != 1/TABLES_VERSION != 2/' ptq/quant_tables.h >cut/quant_tables.h
cp ptq/quant_tables.c cut/
fails 1 "a header of another version" "$QUANTC" show cut
grep -v TABLES_HASH ptq/quant_tables.h >cut/quant_tables.h
fails 1 "a header without hash" "$QUANTC" show cut
rm cut/quant_tables.h
fails 3 "no header" "$QUANTC" show cut
fails 3 "a folder without tables" "$QUANTC" show .
fails 3 "no file" "$QUANTC" show none.c
fails 1 "a configuration" "$QUANTC" show quant.cfg
fails 1 "tables and a record" sh -c '"$0" diff ptq record.txt --model "$1"' "$QUANTC" $d/model.onnx

# torn NAME SED TEXT: plan.json of digits after an edit
torn() {
    sed "$2" whole.json >torn.json
    "$QUANTC" show torn.json >out 2>err
    _status=$?
    if [ "$_status" = 1 ] && [ ! -s out ] && grep -qE "^torn.json:[0-9]+:[0-9]+: error: this is not a plan as quantc writes it: $3 \[tables.damaged\]" err; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: plan: $1: exit status $_status"
        head -n 3 err
    fi
}
if [ -n "$plan" ]; then
    "$QUANTC" compile joins.cfg --model "$models/joins.onnx" --record joins.txt -o again --plan whole.json 2>/dev/null
    torn "no hash" '/"hash"/d' "there is no 'hash'"
    torn "a hash of words" 's/"hash":.*/"hash": "none",/' "a number in hexadecimal is missing for 'hash'"
    torn "another version" 's/"tables_version":.*/"tables_version": 2,/' "a whole number in its range is missing for 'tables_version'"
    torn "a number as text" 's/"frac":.*/"frac": "16",/' "of another kind is 'frac'"
    torn "a code of 9 bits" 's/"table":\(.*\)\[[-0-9]*,/"table":\1[128,/' "a whole number in its range is missing for 'table'"
    torn "a table of 257" 's/"table":\(.*\)\[/"table":\1[0, /' "another number of elements is in 'table'"
    torn "no scales" 's/"dequant":.*/"dequant": [],/' "another number of elements is in 'dequant'"
    torn "half a real" 's/"scale_d":.*/"scale_d": [1],/' "mantissa and exponent are missing for 'scale_d'"
    torn "a term of no layer" 's/"accumulator_of":.*"a"/"accumulator_of": "zz"/' "no layer has the name in 'accumulator_of'"
    torn "a kind of join" 's/"kind":.*"sum"/"kind": "product"/' "of no kind that is known is 'join'"
    torn "no layers" 's/"layers":/"strata":/' "there is no 'layers'"
    fails 1 "a plan that is cut off" sh -c 'head -c 3000 whole.json >torn.json; "$0" show torn.json' "$QUANTC"
fi

# ---- diff ----

sed '6s/: .*/: 0.5/' record.txt >b.txt
"$QUANTC" compile quant.cfg --model $d/model.onnx --record b.txt -o B 2>/dev/null
says() { # says PATTERN...: in what differs between the image and B
    "$QUANTC" diff ptq/quant.img B >said 2>&1
    [ $? = 1 ] || return 1
    for p in "$@"; do
        grep -qxE -e "$p" said || return 1
    done
}
ok "which input moved" says 'inputs' '\+  record +crc32 [0-9a-f]+'
ok "which value, and the line that did it" says 'conv1' '-  scale_w\[0\] +0.0108722243' '\+  scale_w\[0\] +0.5 \(b.txt:6\)' \
    '\+  dequant\[0\] +[0-9.]+ \(b.txt:4, b.txt:6\)' '\+  requant\[0\] +[0-9.]+ \(B/quant_tables.c:[0-9]+\)'
ok "nothing of other layers" sh -c '! grep -qE "^(dw|pw|fc)$" said'
sed 's/search_step : 0.01/search_step : 0.02/; s/channel_wise : true/channel_wise : false/' quant.cfg >b.cfg
"$QUANTC" compile b.cfg --model $d/model.onnx -o C 2>/dev/null
ok "recipes" sh -c '"$0" diff bare C >said; grep -qE "^\+  ifmr .*31 limits.* \(b.cfg:9, b.cfg:11, b.cfg:10, b.cfg:12, b.cfg:13\)$" said &&
    grep -qE "^-  weights .*per channel \(quant.cfg:6\)$" said' "$QUANTC"
ok "joins" sh -c '"$0" diff joins skip >said; grep -qx "b" said && grep -qE "^-  input +the codes that a reads " said &&
    grep -qE "^\+  input +accumulator of stem, codes -3 to 127, zero point -3 \(skip/quant_tables.c:[0-9]+\)$" said' "$QUANTC"
finish
