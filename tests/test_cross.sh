#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# All integer kernels, and tables that quantc generated, give the same numbers
# on every machine: two compilers at all levels, 32 and 64 bit, both byte
# orders, six Cortex-M cores. tests/cross/main.c compares with committed
# values and names the kernel; here its whole output is compared as well.
. "$(dirname "$0")/lib.sh"
. tests/cross/targets.sh

common="tests/cross/main.c tests/cross/checksum.c tests/cross/checksum_ifmr.c tests/cross/checksum_join.c examples/common/io.c
$work/quant_tables.c $(grep -LE 'cpu_entry|qrt_offload|qrt_image' runtime/*.c | grep -vE "_f32|ascend")"
host="$common examples/common/io_stdio.c"
device="$common examples/common/io_semihosting.c examples/common/startup.c"
flags="-std=c99 -Iruntime -Iexamples/common -Itests/cross -I$work"
first=

# ends NAME: the program's output is in $work/NAME.out and its status in $status
judge() {
    grep -E 'FAILED' "$work/$1.out"
    tail -n 1 "$work/$1.out" | grep -qE '^[0-9]+ passed, 0 failed$' && [ "$status" = 0 ] || {
        echo "exit status $status"
        tail -n 1 "$work/$1.out"
        return 1
    }
    [ -n "$first" ] || first=$work/$1.out
    diff "$first" "$work/$1.out"
}
# run_host NAME EMULATOR COMPILER FLAGS...
run_host() {
    _name=$1
    _emulator=$2
    shift 2
    "$@" $flags $host -o "$work/$_name" || return 1
    $_emulator "$work/$_name" >"$work/$_name.out" 2>&1
    status=$?
    judge "$_name"
}
run_core() { # run_core CORE
    arm-none-eabi-gcc -Os $(core_flags $1) -ffreestanding -nostdlib -ffunction-sections $flags $device \
        -T examples/common/mps2.ld $(core_link $1) -Wl,--gc-sections -lgcc -o "$work/$1.elf" || return 1
    board_run "$(core_board $1)" "$work/$1.elf" >"$work/$1.out"
    status=$?
    judge "$1"
}
# here NAME EMULATOR COMPILER FLAGS...: whether such a program can be built and run
here() {
    has "$3" && { [ -z "$2" ] || has "$2"; } || return 1
    _emulator=$2
    shift 2
    printf '#include <stdio.h>\nint main(void){return 0;}\n' >"$work/probe.c"
    "$@" "$work/probe.c" -o "$work/probe" 2>/dev/null && $_emulator "$work/probe"
}
machine() { # machine NAME EMULATOR COMPILER FLAGS...
    if here "$@"; then
        ok "$1" run_host "$@"
    else
        skip 1 "$1: no compiler, library or emulator"
    fi
}

ok "tables with a self-test" "$QUANTC" compile examples/digits/quant.cfg --model examples/digits/model.onnx \
    --record examples/digits/record.txt --selftest -o "$work"
for o in 0 1 2 3; do
    machine gcc-O$o "" gcc -O$o
    machine clang-O$o "" clang -O$o
done
machine sanitized "" gcc -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
machine i386 "" gcc -m32 -O2 -I/usr/include/x86_64-linux-gnu
machine s390x qemu-s390x s390x-linux-gnu-gcc -static -O2
machine powerpc qemu-ppc powerpc-linux-gnu-gcc -static -O2
if has arm-none-eabi-gcc && has qemu-system-arm; then
    for core in $cores; do
        ok "$core" run_core $core
    done
else
    skip 6 "Cortex-M: no arm-none-eabi-gcc or qemu-system-arm"
fi
# The comparison itself: a program with another value must be seen.
sed 's/^\(PART("ulq", 0x\)./\1f/' tests/cross/expected.def >"$work/expected.def"
cp tests/cross/main.c "$work/other.c"
another() {
    ${CC:-cc} -I"$work" $flags "$work/other.c" $(echo $host | sed 's|tests/cross/main.c||') -o "$work/other" || return 1
    "$work/other" >"$work/other.out" && return 1
    [ "$(grep -c FAILED "$work/other.out")" = 1 ] && grep -q '^ulq .* FAILED' "$work/other.out"
}
ok "a kernel that differs is named" another
finish
