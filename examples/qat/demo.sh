#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Retrains the digits network for INT4 weights and runs the result in integers.
#
# usage: examples/qat/demo.sh QUANTC CC BUILD     from the top folder
#
# BUILD holds libquantrt.a and libquantrt-f32.a. Everything is written below
# BUILD/qat.
set -eu

QUANTC=${1:?usage: demo.sh QUANTC CC BUILD}
CC=${2:?usage: demo.sh QUANTC CC BUILD}
BUILD=${3:?usage: demo.sh QUANTC CC BUILD}

Q=examples/qat
D=examples/digits
COMMON=examples/common
OUT=$BUILD/qat
# each float operation rounds on its own, so that every compiler agrees
CFLAGS="-std=c99 ${CFLAGS:--O2} -ffp-contract=off -Wall -Wextra -Iruntime"

if [ ! -f runtime/qrt.h ]; then
    echo "demo.sh: run it from the top folder" >&2
    exit 2
fi
mkdir -p "$OUT/recipe" "$OUT/tables"

echo "== the recipe: $Q/config.json"
"$QUANTC" compile $Q/config.json --model $D/model.onnx -o "$OUT/recipe"

echo
echo "== training"
$CC $CFLAGS -I"$OUT/recipe" -o "$OUT/train" $Q/qat.c $Q/layer.c $Q/export.c \
    "$OUT/recipe/quant_tables.c" "$BUILD/libquantrt-f32.a" \
    "$BUILD/libquantrt.a" -lm
"$OUT/train" "$OUT"

echo
echo "== in integers, with the factors and weights learned"
"$QUANTC" compile $Q/config.json --model $D/model.onnx \
    --record "$OUT/record.txt" -o "$OUT/tables"
# weights.h of the training takes the place of the one in examples/digits:
# both have the same include guard
$CC $CFLAGS -I"$OUT/tables" -I$COMMON -include "$OUT/weights.h" \
    -o "$OUT/digits" $D/net.c $D/main.c $COMMON/io.c $COMMON/io_stdio.c \
    "$OUT/tables/quant_tables.c" "$BUILD/libquantrt.a"
"$OUT/digits"
