#!/bin/sh
# Real models to tables: they compile everywhere without a warning, say what
# the record says, and every layer is found by its name.
. "$(dirname "$0")/lib.sh"

warn="-Wall -Wextra -Wconversion -pedantic -Werror"

# Name and factors of each record entry, one line each.
record_lines() {
    awk '
    { sub(/[ \t]*#.*/, "") }
    /^ *key:/ { key = $0; sub(/^ *key: *"/, "", key); sub(/" *$/, "", key) }
    /^ *scale_d:/ { sd = $2 }
    /^ *offset_d:/ { od = $2 }
    /^ *scale_w:/ { sw = sw " " $2 }
    /^}/ { if (sw != "") print key, sd, od sw; sw = "" }' "$1"
}
# "0.010" and "0.01" are one number: nine digits decide.
normal() {
    awk '{ n = NF; line = ""; for (i = 1; i <= NF; i++) line = line " " $i; print line }' "$1" | sort
}

c99() { $1 $2 -std=c99 $warn -Iruntime -I"$3" -c "$3/quant_tables.c" -o "$3/$4.o"; }
cxx() { $1 $2 -x c++ -std=c++17 $warn -Iruntime -I"$3" -c "$3/quant_tables.c" -o "$3/$4.o"; }

compilers() { # compilers DIR LABEL
    ok "$2: $CC, C99" c99 "$CC" "" "$1" cc
    for c in gcc clang; do
        if has $c; then
            ok "$2: $c, C99" c99 $c "" "$1" $c
        else
            skip 1 "$2: no $c"
        fi
    done
    for c in g++ clang++; do
        if has $c && printf 'int x;' | $c -x c++ -std=c++17 -c - -o /dev/null 2>/dev/null; then
            ok "$2: $c, C++17" cxx $c "" "$1" $c
        else
            skip 1 "$2: no $c"
        fi
    done
    if printf '#include <stdint.h>\nint x;' | gcc -m32 -I/usr/include/x86_64-linux-gnu -x c -c - -o /dev/null 2>/dev/null; then
        ok "$2: gcc -m32, C99" c99 gcc "-m32 -I/usr/include/x86_64-linux-gnu" "$1" m32
    else
        skip 1 "$2: no gcc -m32"
    fi
    if has arm-none-eabi-gcc; then
        ok "$2: arm-none-eabi-gcc, C99" c99 arm-none-eabi-gcc "-mcpu=cortex-m4 -mthumb -ffreestanding" "$1" arm
    else
        skip 1 "$2: no arm-none-eabi-gcc"
    fi
}

factors_equal() { # factors_equal DIR RECORD
    "$CC" -std=c99 -Wall -Iruntime -I"$1" tests/compile/print_factors.c "$1/quant_tables.c" \
        "$BUILD/libquantrt.a" -o "$1/print_factors" || return 1
    "$1/print_factors" >"$1/have" || return 1
    record_lines "$2" | sort >"$1/want"
    sort "$1/have" | diff "$1/want" - >"$1/diff" || { head -n 4 "$1/diff"; return 1; }
    [ -s "$1/want" ]
}

# ---- our own example ----

d=$work/digits
ok "digits: compile" "$QUANTC" compile examples/digits/quant.cfg --model examples/digits/model.onnx \
    --record examples/digits/record.txt -o "$d"
compilers "$d" digits
ok "digits: factors are the record's" factors_equal "$d" examples/digits/record.txt
ok "digits: retrain form" "$QUANTC" compile examples/digits/config.json --model examples/digits/model.onnx -o "$work/digits-qat"

# ---- the samples of the manual pages ----

sample=examples/mindspore-sample
ok "manual page quant.cfg: compile" "$QUANTC" compile $sample/quant.cfg --layers $sample/model.layers -o "$work/sample"
ok "manual page quant.cfg: warns about channel_wise" \
    sh -c '"$0" compile "$1/quant.cfg" --layers "$1/model.layers" -o "$2" 2>&1 | grep -q "warning.*channel_wise"' \
    "$QUANTC" $sample "$work/sample"
compilers "$work/sample" "manual page quant.cfg"
ok "manual page config.json: compile alone" "$QUANTC" compile examples/retrain-sample/config.json -o "$work/retrain"
compilers "$work/retrain" "manual page config.json"

# ---- the real models ----

if [ -d "$QC_SHARED/models" ]; then
    for m in "$QC_SHARED"/models/*/; do
        name=$(basename "$m")
        if [ ! -f "$m/expect/record.txt" ]; then
            ok "$name: layers" sh -c '"$0" layers "$1/model.onnx" >"$2/layers" && grep -q layer "$2/layers"' "$QUANTC" "$m" "$work"
            continue
        fi
        d=$work/$name
        ok "$name: quant.cfg" "$QUANTC" compile "$m/quant.cfg" --model "$m/model.onnx" --record "$m/expect/record.txt" -o "$d"
        ok "$name: factors are the record's" factors_equal "$d" "$m/expect/record.txt"
        ok "$name: config_ptq.json" "$QUANTC" compile "$m/config_ptq.json" --model "$m/model.onnx" --record "$m/expect/record.txt" -o "$d-json"
        ok "$name: config_ptq.json, same factors" factors_equal "$d-json" "$m/expect/record.txt"
        ok "$name: config.json" "$QUANTC" compile "$m/config.json" --model "$m/model.onnx" -o "$d-qat"
        for f in "$d" "$d-json" "$d-qat"; do
            compilers "$f" "$(basename "$f")"
        done
    done
else
    skip 1 "real models: no $QC_SHARED/models"
fi
finish
