#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Instructions of the kernels on Cortex-M0, M3 and M4, and what they take of
# flash and stack, against budgets.
. "$(dirname "$0")/lib.sh"
. tests/cross/targets.sh

if ! has arm-none-eabi-gcc; then
    skip 44 "no arm-none-eabi-gcc"
    finish
fi
printf '%-12s %-30s %12s %12s\n' core what measured budget
# row CORE WHAT MEASURED BUDGET
row() {
    printf '%-12s %-30s %12s %12s\n' "$1" "$2" "${3:-none}" "$4"
    ok "$1 $2: ${3:-nothing} is above $4" \
        sh -c '[ -n "$1" ] && echo "$1 $2" | awk "{ exit !(\$1 <= \$2) }"' - "$3" "$4"
}

# ---- instructions ----

build_budget() { # build_budget CORE
    make -s runtime TARGET_CC=arm-none-eabi-gcc TARGET_CFLAGS="-Os $(core_flags $1)" \
        F32_CFLAGS="-ffp-contract=off -fno-trapping-math" TARGET_BUILD="$work/$1" || return 1
    arm-none-eabi-gcc -Os $(core_flags $1) -std=c99 -ffreestanding -nostdlib -Iruntime -Iexamples/common \
        -T examples/common/mps2.ld tests/cross/budget.c examples/common/io.c examples/common/io_semihosting.c \
        examples/common/startup.c "$work/$1/libquantrt-f32.a" "$work/$1/libquantrt.a" -lgcc -o "$work/$1.elf"
}
run_budget() {
    board_run "$(core_board $1)" "$work/$1.elf" -icount shift=6 >"$work/$1.txt" || return 1
    ! grep FAILED "$work/$1.txt"
}
# instructions CORE KERNEL: in decimals
instructions() { awk -v k="$2" '$1 == k { print $2 / 10 }' "$work/$1.txt"; }

if has qemu-system-arm; then
    for core in cortex-m0 cortex-m3 cortex-m4; do
        ok "$core: build" build_budget $core
        ok "$core: run" run_budget $core
        ok "$core: the clock counts instructions" sh -c '[ "$1" = 2 ]' - "$(instructions $core known-loop)"
        small=32 quantize=48 add=28 add_s32=42 evaluate=50000
        # No budgets were set for three of these on the M0: it has no long
        # multiply and does not count zeros. The numbers are what is held.
        [ $core != cortex-m0 ] || small=88 quantize=110 add=42 add_s32=350 evaluate=130000
        row $core "requantize, per element" "$(instructions $core requantize)" $small
        row $core "requantize, planes" "$(instructions $core requantize-planes)" $small
        row $core "quantize, patterns" "$(instructions $core quantize-patterns)" $quantize
        [ $core != cortex-m4 ] || row $core "quantize, FPU" "$(instructions $core quantize-fpu)" 20
        row $core "IFMR add" "$(instructions $core ifmr-add)" $add
        row $core "IFMR add, int16" "$(instructions $core ifmr-add-s16)" $add
        row $core "IFMR add, int32" "$(instructions $core ifmr-add-s32)" $add_s32
        row $core "IFMR search, per candidate" "$(instructions $core ifmr-candidate)" $evaluate
    done
else
    skip 31 "no qemu-system-arm"
fi

# ---- bytes ----

mkdir -p "$work/size"
ok "build for size" sh tests/cross/size.sh build "$work/size"
sh tests/cross/size.sh sets "$work/size" >"$work/sets"
sh tests/cross/size.sh stack "$work/size" >"$work/stack"
set_of() { awk -v c="$1" -v s="$2" '$1 == c && $2 == s { print $3 }' "$work/sets"; }
for core in cortex-m4 cortex-m0; do
    row $core "quantize, requantize, dequantize" "$(set_of $core small)" 2048
    row $core "these, ARQ, IFMR, ULQ" "$(set_of $core core)" 9216
    row $core "inner loops of four kernels" "$(set_of $core kernels)" 1200
    row $core "images" "$(set_of $core image)" "$([ $core = cortex-m0 ] && echo 4864 || echo 4352)"
    row $core "writable data" "$(set_of $core data)" 0
    row $core "largest stack frame" "$(awk -v c=$core '$1 == c { print $2 }' "$work/stack")" 256
done
finish
