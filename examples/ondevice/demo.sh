#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Calibration on the device, the whole loop: the recipe goes to the device as
# tables, the device observes and prints a record, and the host compiles the
# tables and weights of the integer network with that record.
#
# usage: examples/ondevice/demo.sh QUANTC CC BUILD     from the top folder
#
# BUILD holds libquantrt.a. Everything is written below BUILD/ondevice. Without
# arm-none-eabi-gcc or qemu-system-arm the host takes the device's part.
set -eu

QUANTC=${1:?usage: demo.sh QUANTC CC BUILD}
CC=${2:?usage: demo.sh QUANTC CC BUILD}
BUILD=${3:?usage: demo.sh QUANTC CC BUILD}

E=examples/ondevice
D=examples/digits
COMMON=examples/common
OUT=$BUILD/ondevice
CFLAGS="-std=c99 ${CFLAGS:--O2} -Wall -Wextra -Iruntime -I$COMMON -I$D"
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

title "1. the recipe for the device: no factors yet"
"$QUANTC" compile -Wno-res.not-calibrated $D/quant.cfg --model $D/model.onnx \
    -o "$OUT/recipe"
sources="$E/main.c $E/layer.c $COMMON/io.c $OUT/recipe/quant_tables.c"

title "2. calibration on this host ($CC)"
$CC $CFLAGS -I$E -I"$OUT/recipe" $sources $COMMON/io_stdio.c \
    "$BUILD/libquantrt.a" -o "$OUT/calibrate"
"$OUT/calibrate" > "$OUT/host.txt" || {
    cat "$OUT/host.txt"
    exit 1
}
record=$OUT/host.txt
grep '#' "$record"

title "3. the same on a Cortex-M4 ($ARM-gcc, qemu-system-arm)"
if command -v $ARM-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
    MAKEFLAGS='' ${MAKE:-make} -s "$ARM_BUILD/libquantrt.a" BUILD="$BUILD" \
        TARGET_BUILD="$ARM_BUILD" TARGET_CC=$ARM-gcc \
        TARGET_CFLAGS="$ARM_CFLAGS -Os"
    $ARM-gcc $CFLAGS $ARM_CFLAGS -I$E -I"$OUT/recipe" -ffunction-sections \
        -nostdlib -T $COMMON/mps2.ld $sources $COMMON/io_semihosting.c \
        $COMMON/startup.c "$ARM_BUILD/libquantrt.a" -lgcc -Wl,--gc-sections \
        -o "$OUT/calibrate.elf"
    status=0
    timeout 60 qemu-system-arm -M mps2-an386 -display none -monitor none \
        -serial none -semihosting-config enable=on,target=native \
        -kernel "$OUT/calibrate.elf" > "$OUT/qemu.txt" 2> "$OUT/device.txt" ||
        status=$?
    if [ $status -ne 0 ] || ! cmp -s "$OUT/host.txt" "$OUT/device.txt"; then
        echo "demo.sh: host and device DIFFER (qemu's status $status):" >&2
        diff "$OUT/host.txt" "$OUT/device.txt" >&2 || true
        exit 1
    fi
    record=$OUT/device.txt
    echo "the device printed the same record"
    $ARM-size "$OUT/calibrate.elf"
else
    echo "SKIPPED: not installed (Debian: gcc-arm-none-eabi, qemu-system-arm)"
fi
cp "$record" "$OUT/record.txt"

title "4. tables and weights with the device's record"
"$QUANTC" compile $D/quant.cfg --model $D/model.onnx \
    --record "$OUT/record.txt" --weights -o "$OUT/tables"
$CC $CFLAGS -I"$OUT/tables" -include $E/weights_map.h -o "$OUT/digits" \
    $D/net.c $D/main.c $COMMON/io.c $COMMON/io_stdio.c \
    "$OUT/tables/quant_tables.c" "$OUT/tables/quant_weights.c" \
    "$BUILD/libquantrt.a"
"$OUT/digits"
