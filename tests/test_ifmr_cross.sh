#!/bin/sh
# Saved IFMR states and results are the same bytes on every machine: 64 and 32
# bit, either byte order, both compilers.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
out=${BUILD:-build}/cross-f32
passed=0 failed=0 skipped=0
mkdir -p "$out"

sources="arq_f32 extremes_f32 ifmr_bound_f32 ifmr_f32 ifmr_hist_f32 \
ifmr_loss_f32 ifmr_save_f32 quantize_f32 scale_f32"
files=
for s in $sources; do
    files="$files $top/runtime/$s.c"
done

# build COMPILER FLAGS...: the checksum of that machine, or nothing. RUN is the
# emulator, or empty.
checksum() {
    command -v "$1" >/dev/null 2>&1 || return 1
    [ -z "$RUN" ] || command -v "$RUN" >/dev/null 2>&1 || return 1
    # shellcheck disable=SC2086
    "$@" -std=gnu99 -ffp-contract=off -I"$top/runtime" \
        "$top/tests/cross/ifmr_state.c" $files -o "$out/prog" \
        2>"$out/log" || return 1
    $RUN "$out/prog"
}

RUN=
want=$(checksum "${CC:-cc}" -O2) || want=none
compare() { # NAME COMPILER FLAGS...
    name=$1
    shift
    if ! got=$(checksum "$@"); then
        echo "skipped: $name: no compiler, library or emulator"
        skipped=$((skipped + 1))
    elif [ "$got" = "$want" ]; then
        passed=$((passed + 1))
    else
        echo "$name: $got, not $want"
        failed=$((failed + 1))
    fi
}

compare "host -O3" "${CC:-cc}" -O3
compare "gcc -O0" gcc -O0
compare "clang -O3" clang -O3
compare "i386" gcc -m32 -msse2 -mfpmath=sse -O2 \
    -I/usr/include/x86_64-linux-gnu
RUN=qemu-s390x
compare "s390x, big endian" s390x-linux-gnu-gcc -static -O2
RUN=qemu-ppc
compare "powerpc, big endian, 32 bit" powerpc-linux-gnu-gcc -static -O2

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
