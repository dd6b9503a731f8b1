#!/bin/sh
# Builds bench_f32 for the baseline of this machine's architecture and, where
# the processor has it, for x86-64-v3, and runs both. The kernels are built
# with the flags of the Makefile, and what they are compared with likewise.
#   bench.sh CC BUILD [LARGE]
set -eu
cc=$1
out=$2/bench
large=${3:-1e8}
top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/tests/bench
base="-std=gnu99 -I$top/runtime"
free="-ffreestanding -fno-builtin"
float="-O3 -ffp-contract=off -fno-trapping-math"

if printf '#include <xnnpack.h>\n' | "$cc" -E -xc - >/dev/null 2>&1; then
    xnn_flags=-DBENCH_XNNPACK
    xnn_libs="-lXNNPACK -lpthreadpool -lpthread"
else
    xnn_flags=
    xnn_libs=
fi

# Sources that need nothing but themselves.
floats="arq_f32 extremes_f32 hfmg_f32 ifmr_bound_f32 ifmr_f32 ifmr_hist_f32 \
ifmr_loss_f32 quantize_f32 scale_f32 ulq_f32"
integers="fixed kernel pack4 requantize words"

build() { # ARCH-FLAGS DEFINES PROGRAM
    objects=
    for s in $floats $integers; do
        case $s in
        ifmr_hist_f32) opt="-O2 -fno-tree-vectorize -fno-tree-slp-vectorize" ;;
        *_f32) opt=$float ;;
        *) opt=-O2 ;;
        esac
        # shellcheck disable=SC2086
        "$cc" $base $free $opt $1 -fPIC \
            -c "$top/runtime/$s.c" -o "$3.$s.o"
        objects="$objects $3.$s.o"
    done
    # shellcheck disable=SC2086
    "$cc" $base -O2 $1 -c "$here/plain.c" -o "$3.plain.o"
    # -fno-math-errno: else lrintf is a call, and the comparison too easy.
    # shellcheck disable=SC2086
    "$cc" $base $float -fno-math-errno $1 $xnn_flags $2 "$here/bench_f32.c" \
        "$here/bench_search.c" "$here/bench.c" "$3.plain.o" $objects -o "$3" \
        $xnn_libs -lm
}

torch() { # ARCH-FLAGS ARCH PROGRAM: after build
    objects=
    for s in $floats; do
        objects="$objects $3.$s.o"
    done
    # shellcheck disable=SC2086
    "$cc" $base -O2 $1 -fPIC -shared "$here/torch_shim.c" $objects \
        -o "$3.so" && "$python" "$here/bench_torch.py" "$3.so" "$2"
}

# Debian's modules belong to its own interpreter.
python=
for p in /usr/bin/python3 python3; do
    [ -n "$python" ] || ! "$p" -c 'import torch' 2>/dev/null || python=$p
done

mkdir -p "$out"
sed -n 's/^model name[^:]*: */processor: /p' /proc/cpuinfo 2>/dev/null |
    head -1
build "" "-DBENCH_ARCH=\"$(uname -m)\"" "$out/bench_f32"
"$out/bench_f32" "$large"
if grep -q avx2 /proc/cpuinfo 2>/dev/null && grep -q fma /proc/cpuinfo; then
    echo
    build -march=x86-64-v3 '-DBENCH_V3 -DBENCH_ARCH="x86-64-v3"' \
        "$out/bench_f32_v3"
    "$out/bench_f32_v3" "$large"
    if [ -n "$python" ]; then
        torch -march=x86-64-v3 x86-64-v3 "$out/bench_f32_v3"
    fi
fi
[ -n "$python" ] || echo "skipped: torch is not installed (python3-torch)"
