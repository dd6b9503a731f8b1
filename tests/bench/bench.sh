#!/bin/sh
# Builds bench_f32 for the baseline of this machine's architecture and, where
# the processor has it, for x86-64-v3, and runs both. The kernels are built
# with the flags that runtime/qrt_f32.h asks for.
#   bench.sh CC BUILD [LARGE]
set -eu
cc=$1
out=$2/bench
large=${3:-1e8}
top=$(cd "$(dirname "$0")/../.." && pwd)
base="-std=gnu99 -I$top/runtime -ffp-contract=off"
free="-ffreestanding -fno-builtin"

if printf '#include <xnnpack.h>\n' | "$cc" -E -xc - >/dev/null 2>&1; then
    xnn_flags=-DBENCH_XNNPACK
    xnn_libs="-lXNNPACK -lpthreadpool -lpthread"
else
    xnn_flags=
    xnn_libs=
fi

# Sources that need nothing but themselves.
sources="arq_f32 extremes_f32 ifmr_bound_f32 ifmr_f32 ifmr_hist_f32 \
ifmr_loss_f32 quantize_f32 scale_f32"

build() { # ARCH-FLAGS LABEL PROGRAM
    objects=
    for s in $sources; do
        opt=-O3
        [ "$s" != ifmr_hist_f32 ] ||
            opt="-O2 -fno-tree-vectorize -fno-tree-slp-vectorize"
        # shellcheck disable=SC2086
        "$cc" $base $free $opt $1 -c "$top/runtime/$s.c" -o "$3.$s.o"
        objects="$objects $3.$s.o"
    done
    # shellcheck disable=SC2086
    "$cc" $base -O3 -fno-math-errno $1 $xnn_flags "-DBENCH_ARCH=\"$2\"" \
        "$top/tests/bench/bench_f32.c" $objects -o "$3" $xnn_libs -lm
}

mkdir -p "$out"
build "" "" "$out/bench_f32"
"$out/bench_f32" "$large"
if grep -q avx2 /proc/cpuinfo 2>/dev/null && grep -q fma /proc/cpuinfo; then
    echo
    build -march=x86-64-v3 ", x86-64-v3" "$out/bench_f32_v3"
    "$out/bench_f32_v3" "$large"
fi
