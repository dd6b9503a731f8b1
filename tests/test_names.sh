#!/bin/sh
# Names of layers and files that are not meant for C, make, JSON or a URI:
# what is generated compiles, finds every layer, and hides nothing.
. "$(dirname "$0")/lib.sh"

top=$PWD
cd "$work" || exit 1

# ---- layers ----

# Ends of comments, trigraphs, spliced lines, control characters, characters
# that turn text around or are not seen, bytes beyond ASCII before digits.
for n in 'a*/b' 'a/*b' 'a??/b' 'a??' 'tab\tbell\007' 'turn\342\200\256ed' 'no\342\200\213width' \
    'caf\303\251 1' 'quote\"s' 'back\\'; do
    printf 'layer { name: "%s" type: "Conv" weight_shape: [2, 2, 1, 1] }\n' "$n"
done >hostile.layers
printf 'activation_offset: true\n' >all.cfg
ok "layers: compile" "$QUANTC" compile all.cfg --layers hostile.layers -o out --plan out/plan.json
cat >find.c <<'END'
#include "qrt.h"
#include "quant_tables.h"

int main(void)
{
    static const char *const names[] = {
        "a*/b", "a/*b", "a?\?/b", "a?\?", "tab\tbell\a", "turn\342\200\256ed",
        "no\342\200\213width", "caf\303\251 1", "quote\"s", "back\\"};
    unsigned i, n = sizeof names / sizeof *names;
    uint32_t at;

    if (quant_tables.layer_count != n)
        return 1;
    for (i = 0; i < n; i++)
        if (qrt_find_layer(&quant_tables, names[i], &at) != QRT_OK || at != i)
            return 2 + (int)i;
    return qrt_tables_check(&quant_tables, QUANT_TABLES_HASH) != QRT_OK;
}
END
for c in "$CC" gcc clang g++; do
    has "$c" || continue
    std=-std=c99
    [ "$c" = g++ ] && std="-x c++ -std=c++14"
    # shellcheck disable=SC2086
    ok "layers: $c builds it without a warning, trigraphs on" "$c" $std -trigraphs -Wall -Wextra -pedantic -Werror \
        -Wno-trigraphs -I"$top/runtime" -Iout -c out/quant_tables.c -o tables.o
done
ok "layers: a program" "$CC" -I"$top/runtime" -Iout find.c out/quant_tables.c "$BUILD/libquantrt.a" -o find
ok "layers: every one is found by its name" ./find
bytes() { LC_ALL=C grep -n "$(printf "$1")" out/quant_tables.[ch]; }
for b in '\342\200\256' '\342\200\213' '\007'; do
    ok "layers: $b stands nowhere in the C" sh -c "! LC_ALL=C grep -q \"\$(printf '$b')\" out/quant_tables.[ch]"
done
ok "layers: but in words" grep -qF 'turn\u202Eed' out/quant_tables.h
"$QUANTC" explain all.cfg --layers hostile.layers >said
ok "explain shows what is not seen in words" grep -qF "'turn<U+202E>ed'" said
"$QUANTC" check all.cfg --layers hostile.layers -E res.not-calibrated >said 2>&1
printf 'skip_layers: "turn\342\200\256de"\n' >skip.cfg
"$QUANTC" check skip.cfg --layers hostile.layers >said 2>&1
ok "so does a message, and its line" test "$(grep -c 'turn<U+202E>de' said)" = 2

# ---- files ----

cp "$top/examples/digits/quant.cfg" 'a $b#c.cfg'
cp "$top/examples/digits/model.onnx" model.onnx
ok "files: compile" "$QUANTC" compile 'a $b#c.cfg' --model model.onnx -o 'o $u#t'
printf 'include o\\ $$u\\#t/quant_tables.d\nall: ;\n' >Makefile
ok "files: make reads the depfile" make -s all
touched() {
    touch -d 2001-01-01 'a $b#c.cfg' model.onnx "$QUANTC" 2>/dev/null
    make -s -q 'o $$u\#t/quant_tables.c' 2>/dev/null
    make -s -p all 2>/dev/null | grep -qF 'a $b#c.cfg'
}
ok "files: the input's name is whole in it" touched

# ---- in messages for programs ----

sarif() { # sarif TEXT ARGUMENT...: stands in the log, and the run fails
    text=$1
    shift
    "$QUANTC" "$@" --diag sarif >out.txt 2>log.sarif && return 1
    tr -d '\t\n' <log.sarif >line
    grep -qF -- "$text" line || { cat log.sarif; return 1; }
}
if "$QUANTC" check all.cfg --diag sarif 2>&1 | grep -q '"runs"'; then
    bad=$(printf 'x y#\303\274.cfg')
    printf 'batch_nom: 1\r\nbatch_num: "a\r\ncommon_config: ifmr\r\n' >"$bad"
    ok "SARIF: a name is a URI" sarif '"uri":"x%20y%23%C3%BC.cfg"' check "$bad"
    ok "SARIF: a place before CR LF" sarif '"startLine":2,"startColumn":12,"endColumn":14' check "$bad"
    ok "SARIF: no more than --max-errors" sarif '"results":[{' check "$bad" --max-errors 1
    ok "SARIF: that is one" test "$(grep -c '"ruleId"' log.sarif)" = 1
    printf 'record { key: "nan" value { scale_d: 1 offset_d: 0 scale_w: 0.5 offset_w: 0 } }\n' >nan.txt
    ok "SARIF: in a model a place is bytes" sarif '"byteOffset":819,"byteLength":' compile \
        --model "$top/tests/models/faulty_weights.onnx" --record nan.txt --weights -o faulty
else
    skip 5 "a quantc without cJSON: SARIF"
fi
ok "JSON: a place in a model" sh -c '"$1" compile --model "$2" --record nan.txt --weights -o faulty --diag json 2>&1 |
    grep -q "\"line\":1,\"col\":820,\"end_col\":"' - "$QUANTC" "$top/tests/models/faulty_weights.onnx"
finish
