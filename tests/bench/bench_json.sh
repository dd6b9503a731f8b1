#!/bin/sh
# Builds and runs bench_json against the libqc.a of a finished build.
#   bench_json.sh CC BUILD
set -eu
cc=$1
build=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
if ! printf '#include <cjson/cJSON.h>\n' | "$cc" -E -xc - >/dev/null 2>&1; then
    echo "skipped: cJSON is not installed"
    exit 0
fi
mkdir -p "$build/bench"
"$cc" -std=c99 -O2 -I"$top" -I"$top/gen" -I"$top/grammar" -I"$top/runtime" \
    -I"$build" "$top/tests/bench/bench_json.c" "$build/libqc.a" \
    "$build/libquantrt-f32.a" "$build/libquantrt.a" -lcjson -lm \
    -o "$build/bench/bench_json"
"$build/bench/bench_json"
