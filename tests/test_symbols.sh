#!/bin/sh
# What the runtime asks of its surroundings on a device: nothing from libc, no
# floating point, no writable data; on cores without a long multiply the
# compiler's own integer helpers.
. "$(dirname "$0")/lib.sh"

if ! has arm-none-eabi-gcc; then
    skip 12 "no arm-none-eabi-gcc"
    finish
fi

# build CORE FLAGS
build() {
    make -s runtime TARGET_CC=arm-none-eabi-gcc TARGET_CFLAGS="-Os -mthumb $2" TARGET_BUILD="$work/$1"
}
# Names that no member of the archive defines.
foreign() {
    arm-none-eabi-nm -g "$1" | awk 'NF >= 2 && $(NF - 1) != "U" { have[$NF] = 1 }
        NF >= 2 && $(NF - 1) == "U" { want[$NF] = 1 }
        END { for (n in want) if (!(n in have)) print n }' | sort
}
only() { # only ARCHIVE PATTERN: every foreign name matches
    foreign "$1" | grep -vE "^($2)\$" >"$work/foreign"
    cat "$work/foreign"
    [ ! -s "$work/foreign" ]
}
# The compiler may still move 64-bit values through registers of an FPU.
no_float_arithmetic() {
    foreign "$1" | grep -E '__aeabi_[fd]|__aeabi_[a-z]*2[fd]|sf[0-9]$|df[0-9]$' && return 1
    arm-none-eabi-objdump -d "$1" | grep -E '	v(add|sub|mul|div|cvt|cmp|neg|abs|sqrt|mla|mls|fma|fnm)[a-z.0-9]*	' && return 1
    return 0
}
no_float() {
    foreign "$1" | grep -E '__aeabi_[fd]|__aeabi_[a-z]*2[fd]|sf[0-9]$|df[0-9]$' && return 1
    arm-none-eabi-objdump -d "$1" | grep -E '	v(add|sub|mul|div|mov|cvt|ldr|str|cmp|neg|abs|sqrt|mla|fma)[a-z.0-9]*	' && return 1
    return 0
}
no_data() {
    arm-none-eabi-size "$1" | awk 'NR > 1 && ($2 || $3) { print; bad = 1 } END { exit bad }'
}

for core in cortex-m3 cortex-m4 cortex-m33; do
    ok "$core: build" build $core "-mcpu=$core"
    a=$work/$core/libquantrt.a
    ok "$core: nothing from outside" only "$a" 'none'
    ok "$core: no floating point" no_float "$a"
    ok "$core: no writable data" no_data "$a"
done
ok "cortex-m0: build" build cortex-m0 -mcpu=cortex-m0
ok "cortex-m0: integer helpers of the compiler only" only "$work/cortex-m0/libquantrt.a" \
    '__aeabi_(lmul|llsl|llsr|lasr|idiv|uidiv|uidivmod|idivmod)|__gnu_thumb1_case_[a-z]*|__clzsi2'
ok "cortex-m0: no floating point" no_float "$work/cortex-m0/libquantrt.a"
ok "cortex-m0: no writable data" no_data "$work/cortex-m0/libquantrt.a"
ok "cortex-m4 with an FPU: build" build cortex-m4f "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"
ok "cortex-m4 with an FPU: it computes nothing" no_float_arithmetic "$work/cortex-m4f/libquantrt.a"

# Include arrows: one way, and no system header but three.
ok "runtime includes nothing of the compiler" sh -c '! grep -nE "#include *\"(\.\./)?(gen|grammar|build)/" runtime/*.c runtime/*.h'
ok "runtime includes freestanding headers only" sh -c '! grep -nE "#include *<" runtime/*.c runtime/*.h | grep -vE "<(stdint|stddef|stdbool)\.h>" | grep -v ascend'
ok "the tables' header includes stdint.h only" sh -c '[ "$(grep -cE "#include *[<\"]" runtime/qrt_tables.h)" = 2 ] && grep -q "<stdint.h>" runtime/qrt_tables.h'
ok "grammars name no field of AMCT" sh -c '! grep -nE "search_step|clip_max|retrain_enable|scale_d|raw_data|skip_layers" grammar/*'
finish
