#!/bin/sh
# Builds and runs bench_weights for a finished build.
#   bench_weights.sh CC BUILD
set -eu
cc=$1
build=$(cd "$2" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$build/bench/weights"
"$cc" -std=c99 -O2 "$top/tests/bench/bench_weights.c" \
    -o "$build/bench/bench_weights"
CPATH=$top/runtime "$build/bench/bench_weights" "$build/quantc" "$cc" \
    "$build/bench/weights"
