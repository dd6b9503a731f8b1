#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# quantc compile --selftest: vectors in the tables, and qrt_selftest finds
# damaged tables and wrong kernels. tests/test_cross.sh runs it on every core.
. "$(dirname "$0")/lib.sh"

flags="-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -Iruntime -I$work"
digits="examples/digits/quant.cfg --model examples/digits/model.onnx --record examples/digits/record.txt"

program() { # program NAME RUNTIME...: the test program with these objects
    _name=$1
    shift
    "$CC" $flags -Wno-conversion tests/compile/selftest.c "$work/quant_tables.c" "$@" -o "$work/$_name"
}
ok "digits: compile" "$QUANTC" compile $digits --selftest -o "$work"
ok "the tables compile without a warning" "$CC" $flags -c "$work/quant_tables.c" -o "$work/tables.o"
if has g++; then
    ok "as C++17 too" g++ -x c++ -std=c++17 -Wall -Wextra -Wconversion -pedantic -Werror -Iruntime -I"$work" \
        -c "$work/quant_tables.c" -o "$work/tables-cxx.o"
else
    skip 1 "no g++"
fi
ok "the program builds" program selftest "$BUILD/libquantrt.a"
ok "faults are named" "$work/selftest"

# A kernel that is wrong on this machine: one source changed, the rest as is.
wrong_kernel() { # wrong_kernel FILE FROM TO VERDICT
    sed "s/$2/$3/" "runtime/$1.c" >"$work/$1.c"
    cmp -s "runtime/$1.c" "$work/$1.c" && return 1
    program wrong "$work/$1.c" "$BUILD/libquantrt.a" || return 1
    "$work/wrong" run >"$work/verdict"
    grep -qx "$4" "$work/verdict" || {
        cat "$work/verdict"
        return 1
    }
}
ok "a wrong requantize is named" wrong_kernel requantize '(-2 - r->e)' '(-3 - r->e)' 'conv1 requantize'
ok "a wrong dequantize is named" wrong_kernel dequantize 'c.frac = p->frac' 'c.frac = p->frac + 1' 'conv1 dequantize'
ok "a wrong quantize is named" wrong_kernel quantize 'QRT_S32) {' 'QRT_S16) {' 'conv1 quantize'

# Without factors, without words, with other widths, and without the option.
ok "without a record" "$QUANTC" compile examples/digits/quant.cfg --model examples/digits/model.onnx --selftest -o "$work/bare"
ok "its tables compile" "$CC" -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -Iruntime -I"$work/bare" \
    -c "$work/bare/quant_tables.c" -o "$work/bare/t.o"
ok "--no-words: compile" "$QUANTC" compile $digits --selftest --no-words -o "$work/nowords"
digest() { sed -n 's/^    {\(0x[0-9A-F]*\)u, .*test_x_CONV1.*/\1/p' "$1/quant_tables.c"; }
ok "--no-words: another digest" sh -c '[ -n "$1" ] && [ -n "$2" ] && [ "$1" != "$2" ]' - \
    "$(digest "$work")" "$(digest "$work/nowords")"
ok "without --selftest" "$QUANTC" compile $digits -o "$work/plain"
ok "nothing is added" sh -c '! grep -q selftest "$0"/quant_tables.[ch]' "$work/plain"
fails 2 "only compile has it" "$QUANTC" image $digits --selftest -o "$work/image"

# Real models: residual sums, functions by table, hundreds of channels.
cat >"$work/run.c" <<'END'
#include "qrt_selftest.h"
#include "quant_tables.h"
int main(void)
{
    struct qrt_selftest_fault fault;
    return qrt_selftest(&quant_tables, &quant_selftest, &fault) != QRT_OK;
}
END
model() { # model FOLDER
    d=$work/$(basename "$1")
    "$QUANTC" compile "$1/quant.cfg" --model "$1/model.onnx" --record "$1/expect/record.txt" --selftest -o "$d" &&
        "$CC" -std=c99 -Wall -Wextra -Werror -Iruntime -I"$d" "$work/run.c" "$d/quant_tables.c" "$BUILD/libquantrt.a" \
            -o "$d/run" && "$d/run"
}
if [ -d "$QC_SHARED/models" ]; then
    for m in "$QC_SHARED"/models/*/; do
        [ ! -f "$m/expect/record.txt" ] || ok "$(basename "$m"): passes its self-test" model "$m"
    done
else
    skip 1 "real models: no $QC_SHARED/models"
fi
finish
