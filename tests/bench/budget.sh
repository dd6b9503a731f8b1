#!/bin/sh
# Counts the instructions of the exact IFMR search with callgrind, at two
# sizes: the slope is the cost per element, the rest is fixed. Fails above 32
# per element or 4.5 million.
#   budget.sh CC BUILD
set -eu
cc=$1
out=$2/bench
top=$(cd "$(dirname "$0")/../.." && pwd)
per_element=32
fixed=4500000

if ! command -v valgrind >/dev/null 2>&1; then
    echo "skipped: instructions of the IFMR search: no valgrind"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
case $(uname -m) in
x86_64) arch="-march=x86-64" ;; # callgrind does not know AVX-512
*) arch= ;;
esac

mkdir -p "$out"
objects=
for s in arq_f32 extremes_f32 ifmr_bound_f32 ifmr_f32 ifmr_hist_f32 \
    ifmr_loss_f32 scale_f32 quantize_f32; do
    opt=-O3
    [ "$s" != ifmr_hist_f32 ] ||
        opt="-O2 -fno-tree-vectorize -fno-tree-slp-vectorize"
    # shellcheck disable=SC2086
    "$cc" -std=c99 -I"$top/runtime" -ffreestanding -fno-builtin \
        -ffp-contract=off $opt $arch \
        -c "$top/runtime/$s.c" -o "$out/budget.$s.o"
    objects="$objects $out/budget.$s.o"
done
# shellcheck disable=SC2086
"$cc" -std=c99 -O2 $arch -I"$top/runtime" "$top/tests/bench/budget_ifmr.c" \
    $objects -o "$out/budget_ifmr"

count() { # N
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect=qrt_ifmr_f32_search "$out/budget_ifmr" "$1" \
        >"$out/budget.log" 2>&1 || {
        cat "$out/budget.log" >&2
        return 1
    }
    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$out/budget.log"
}

small=500000
large=1000000
a=$(count $small)
b=$(count $large)
slope=$(((b - a) * 10 / (large - small)))
rest=$((b - slope * large / 10))
echo "IFMR exact, 61 candidates, $cc -O3 $arch:" \
    "$((slope / 10)).$((slope % 10)) instructions per element + $rest" \
    "(at most $per_element + $fixed)"
if [ "$slope" -le $((10 * per_element)) ] && [ "$rest" -le $fixed ]; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
