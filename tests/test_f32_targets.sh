#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# The float kernels give the same codes in whatever way they are compiled:
# vectorised or small, with fused multiply-adds or without, in either byte
# order. tests/cross/codes_f32.c is the judge; the sums it prints are compared.
. "$(dirname "$0")/lib.sh"

flags="-std=gnu99 -Iruntime -ffp-contract=off -fno-trapping-math"
sources="runtime/quantize_f32.c tests/cross/codes_f32.c"
first=

# judged NAME EMULATOR COMPILER FLAGS...
judged() {
    _exe=$work/$1
    _emulator=$2
    shift 2
    "$@" $flags $sources -o "$_exe" || return 1
    $_emulator "$_exe" >"$_exe.out" || {
        cat "$_exe.out"
        return 1
    }
    [ -n "$first" ] || first=$_exe.out
    diff "$first" "$_exe.out"
}

# flag NAME: the processor has it
flag() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

ok "small" judged small "" "$CC" -Os
ok "vectorised" judged vector "" "$CC" -O3
for march in v3:fma v4:avx512vl; do
    if flag "${march#*:}" && [ "$(uname -m)" = x86_64 ]; then
        ok "x86-64-${march%:*}" judged "${march%:*}" "" "$CC" -O3 "-march=x86-64-${march%:*}"
        if has clang; then
            ok "clang, ${march%:*}" judged "clang-${march%:*}" "" clang -O3 "-march=x86-64-${march%:*}"
        else
            skip 1 "no clang"
        fi
    else
        skip 2 "not an x86-64-${march%:*} processor"
    fi
done
if has s390x-linux-gnu-gcc && has qemu-s390x; then
    ok "s390x" judged s390x qemu-s390x s390x-linux-gnu-gcc -O3 -static
    ok "s390x, vectors" judged s390x-z14 qemu-s390x s390x-linux-gnu-gcc -O3 -march=z14 -static
else
    skip 2 "no s390x-linux-gnu-gcc or qemu-s390x"
fi
if has powerpc-linux-gnu-gcc && has qemu-ppc; then
    ok "powerpc" judged powerpc qemu-ppc powerpc-linux-gnu-gcc -O3 -static
else
    skip 1 "no powerpc-linux-gnu-gcc or qemu-ppc"
fi
finish
