#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Compiles quant.cfg into tables, builds the inference program with them, and
# runs it on this host and, if the tools are there, on an emulated Cortex-M4.
#
# usage: examples/digits/demo.sh QUANTC CC BUILD     from the top folder
#
# BUILD holds libquantrt.a. Everything is written below BUILD/demo. Ends with
# an error if int8 accuracy is more than one point below float, or if host and
# device print different numbers.
set -eu

QUANTC=${1:?usage: demo.sh QUANTC CC BUILD}
CC=${2:?usage: demo.sh QUANTC CC BUILD}
BUILD=${3:?usage: demo.sh QUANTC CC BUILD}

D=examples/digits
COMMON=examples/common
OUT=$BUILD/demo
CFLAGS="-std=c99 ${CFLAGS:--O2} -Wall -Wextra -Iruntime -I$COMMON -I$D -I$OUT"
ARM=arm-none-eabi
ARM_CFLAGS="-mcpu=cortex-m4 -mthumb -ffreestanding"
ARM_BUILD=$BUILD/cortex-m4

if [ ! -f runtime/qrt.h ]; then
    echo "demo.sh: run it from the top folder" >&2
    exit 2
fi
mkdir -p "$OUT"

title()
{
    printf '\n== %s\n' "$1"
}

# The array of layers.
table_rows()
{
    sed -n '/^\/\* One row per layer/,/^};/p' "$OUT/quant_tables.c"
}

# size program, files: bytes of code and initialized data, added up
bytes()
{
    size=$1
    shift
    "$size" "$@" | awk 'NR > 1 { n += $1 + $2 } END { print n }'
}

# map file of the linker: bytes that the image took from the runtime. An entry
# is "SECTION 0xADDRESS 0xSIZE FILE", in two lines if the name is long; what was
# left out has the address 0.
runtime_bytes()
{
    sizes=$(awk '/^ \./ { section = $1 }
        /libquantrt\.a\(/ && section ~ /^\.(text|rodata|data)/ &&
            $(NF - 2) !~ /^0x0*$/ { printf "%s + ", $(NF - 1) }' "$1")
    echo $((${sizes}0))
}

# size program, folder of objects and map
sizes()
{
    printf '%-32s %7s bytes\n' \
        "tables (quant_tables.c)" "$(bytes "$1" "$2/quant_tables.o")" \
        "network and weights (net.c)" "$(bytes "$1" "$2/net.o")" \
        "test images, report (main.c)" "$(bytes "$1" "$2/main.o")" \
        "linked from libquantrt.a" "$(runtime_bytes "$2/digits.map")"
}

title "quantc compile $D/quant.cfg"
"$QUANTC" compile $D/quant.cfg --model $D/model.onnx --record $D/record.txt \
    -o "$OUT"

title "the table: $OUT/quant_tables.c"
table_rows | head -n 24

title "on this host ($CC)"
mkdir -p "$OUT/host"
for source in "$OUT/quant_tables.c" $D/net.c $D/main.c $D/float_net.c \
    $D/float_check.c $COMMON/io.c $COMMON/io_stdio.c; do
    $CC $CFLAGS -c "$source" -o "$OUT/host/$(basename "$source" .c).o"
done
H=$OUT/host
$CC -o "$OUT/digits" "$H/main.o" "$H/net.o" "$H/quant_tables.o" "$H/io.o" \
    "$H/io_stdio.o" "$BUILD/libquantrt.a" \
    -Wl,--gc-sections -Wl,-Map,"$H/digits.map"
$CC -o "$OUT/float_check" "$H/float_check.o" "$H/float_net.o" "$H/net.o" \
    "$H/quant_tables.o" "$BUILD/libquantrt.a" -lm
"$OUT/digits" > "$OUT/host.txt" || {
    cat "$OUT/host.txt"
    echo "demo.sh: int8 accuracy is more than one point below float" >&2
    exit 1
}
cat "$OUT/host.txt"
"$OUT/float_check"
sizes size "$H"

title "on a Cortex-M4 ($ARM-gcc, qemu-system-arm)"
for tool in $ARM-gcc qemu-system-arm; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIPPED: $tool is not installed (Debian: gcc-arm-none-eabi," \
            "qemu-system-arm)"
        exit 0
    fi
done
MAKEFLAGS='' ${MAKE:-make} -s "$ARM_BUILD/libquantrt.a" BUILD="$BUILD" \
    TARGET_BUILD="$ARM_BUILD" TARGET_CC=$ARM-gcc \
    TARGET_CFLAGS="$ARM_CFLAGS -Os"
A=$OUT/cortex-m4
mkdir -p "$A"
for source in "$OUT/quant_tables.c" $D/net.c $D/main.c $COMMON/io.c \
    $COMMON/io_semihosting.c $COMMON/startup.c; do
    $ARM-gcc $CFLAGS $ARM_CFLAGS -c "$source" \
        -o "$A/$(basename "$source" .c).o"
done
$ARM-gcc $ARM_CFLAGS -nostdlib -T $COMMON/mps2.ld -o "$OUT/digits.elf" \
    "$A/startup.o" "$A/main.o" "$A/net.o" "$A/quant_tables.o" "$A/io.o" \
    "$A/io_semihosting.o" "$ARM_BUILD/libquantrt.a" -lgcc \
    -Wl,--gc-sections -Wl,-Map,"$A/digits.map"
status=0
timeout 60 qemu-system-arm -M mps2-an386 -display none -monitor none \
    -serial none -semihosting-config enable=on,target=native \
    -kernel "$OUT/digits.elf" > "$OUT/qemu.txt" 2> "$OUT/device.txt" ||
    status=$?
cat "$OUT/device.txt"
sizes $ARM-size "$A"
printf '%-32s %7s bytes\n' "whole image" \
    "$(bytes $ARM-size "$OUT/digits.elf")"
if [ $status -ne 0 ] || ! cmp -s "$OUT/host.txt" "$OUT/device.txt"; then
    echo "demo.sh: host and device DIFFER (qemu's status $status):" >&2
    diff "$OUT/host.txt" "$OUT/device.txt" >&2 || true
    exit 1
fi
echo "host and device gave identical integers"
