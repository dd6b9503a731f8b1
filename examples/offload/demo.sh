#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Builds and runs the offload example.
#
# usage: examples/offload/demo.sh CC BUILD     from the top folder
#
# BUILD holds libquantrt.a and libquantrt-f32.a; everything is written below
# BUILD/offload.
set -eu

CC=${1:?usage: demo.sh CC BUILD}
BUILD=${2:?usage: demo.sh CC BUILD}
E=examples/offload
OUT=$BUILD/offload

if [ ! -f runtime/qrt.h ]; then
    echo "demo.sh: run it from the top folder" >&2
    exit 2
fi
mkdir -p "$OUT"
$CC -std=c99 ${CFLAGS:--O2} -ffp-contract=off -Wall -Wextra -DQRT_OFFLOAD=1 -Iruntime -I$E \
    $E/main.c $E/npu_backend.c $E/npu_model.c \
    "$BUILD/libquantrt-f32.a" "$BUILD/libquantrt.a" -o "$OUT/offload"
"$OUT/offload"
