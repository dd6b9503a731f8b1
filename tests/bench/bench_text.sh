#!/bin/sh
# Builds and runs bench_text for a finished build.
#   bench_text.sh CC BUILD
set -eu
cc=$1
build=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$build/bench"
"$cc" -std=c99 -O2 "$top/tests/bench/bench_text.c" -o "$build/bench/bench_text"
"$build/bench/bench_text" "$build/quantc" "$top/proto" "$build/bench"
