#!/bin/sh
# Whole networks in integers: quantc calibrates, makes tables and weights; the
# program in tests/nets runs them. Every layer is quantized. Top-1 is compared
# with that of AMCT's fake quantization (expect/accuracy.json), and a checksum
# over all logits between hosts, byte orders and a Cortex-M4. From an image
# networks give the same logits as from tables.
. "$(dirname "$0")/lib.sh"

N=tests/nets
rt=
for f in image image_view join requantize dequantize quantize quantize_bits kernel fixed layer \
    status real scale softf32; do
    rt="$rt runtime/$f.c"
done
flags="-std=c99 -O2 -Wall -Wextra -Iruntime -Iexamples/common -I$N"
# Of the larger nets emulators run the first inputs only.
few="mlperf_resnet8 resnet_fsdd dscnn_fsdd"

# What tables and weights are taken from, in folder DIR: linked, or an image.
linked() { echo "$1/quant_tables.c $1/quant_weights.c"; }
imaged() { echo "-DNET_IMAGE $N/from_image.c $1/image.S"; }

# host CC FLAGS DIR NET PROGRAM [SOURCES]
host() {
    # shellcheck disable=SC2086 # lists of words
    $1 $2 $flags -I"$3" $N/main.c $N/net.c $N/inputs_file.c $N/"$4".c \
        ${6:-$(linked "$3")} examples/common/io.c \
        examples/common/io_stdio.c $rt -o "$5"
}

# device DIR NET PROGRAM [SOURCES]
device() {
    printf '.section .rodata\n.balign 4\n.global inputs_data\ninputs_data:\n.incbin "%s"\n' "$1/ten.in" >"$1/inputs.S"
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -ffreestanding -nostdlib $flags -I"$1" \
        -T examples/common/mps2.ld $N/main.c $N/net.c $N/inputs_linked.c $N/"$2".c \
        "$1/inputs.S" ${4:-$(linked "$1")} examples/common/io.c \
        examples/common/io_semihosting.c examples/common/startup.c $rt -lgcc -o "$3"
}

on_device() {
    timeout 60 qemu-system-arm -M mps2-an386 -display none -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel "$1" 2>"$2" >/dev/null
}

# Right answers of all inputs are at most `points` below the figure.
accurate() { # accurate OUTPUT ACCURACY POINTS
    awk -v points="$3" '
    FNR == NR { if ($1 ~ /int8_fake_quant_top1/) want = $2 + 0; next }
    { have = $3 / $1 }
    END { printf "%.4f, AMCT %.4f\n", have, want; exit !(want > 0 && have >= want - points / 100 - 1e-9) }' "$2" "$1"
}

# The outputs agree as far as the shorter one goes.
same() {
    n=$(wc -l <"$2")
    [ "$n" -gt 0 ] && head -n "$n" "$1" | cmp - "$2"
}

calibrated() { # calibrated NET DIR
    "$QUANTC" calibrate $N/"$1".cfg --model "$QC_SHARED/models/$1/model.onnx" \
        --data "$QC_SHARED/models/$1/activations" -o "$2/record.txt"
}

# The first ten inputs with all numbers from an image; no tables are linked.
# Each network on some of the machines, all kinds of joins on each.
try_image() { # try_image DIR NET
    d=$1 net=$2
    ok "$net: image" "$QUANTC" image $N/"$net".cfg --model "$QC_SHARED/models/$net/model.onnx" \
        --record "$d/record.txt" --weights -o "$d/quant.img"
    printf '.section .rodata\n.balign 8\n.global image_data\n.global image_end\nimage_data:\n.incbin "%s"\nimage_end:\n.section .note.GNU-stack,"",%%progbits\n' \
        "$d/quant.img" >"$d/image.S"
    case $net in
    mlp_digits) on="host s390x powerpc device" ;;
    resnet_fsdd) on="host s390x device" ;;
    dscnn_fsdd) on="host powerpc" ;;
    *) on=host ;;
    esac
    for machine in $on; do
        case $machine in
        host) cc=$CC extra='' emulator='' ;;
        device) cc=arm-none-eabi-gcc emulator=qemu-system-arm ;;
        *) cc=$machine-linux-gnu-gcc extra=-static emulator=qemu-$(echo $machine | sed s/powerpc/ppc/) ;;
        esac
        if ! has "$cc" || { [ -n "$emulator" ] && ! has "$emulator"; }; then
            skip 3 "$net from an image: no $cc or $emulator"
            continue
        fi
        rm -f "$d/got"
        if [ $machine = device ]; then
            ok "$net: build from an image for Cortex-M4" device "$d" "$net" "$d/image.elf" "$(imaged "$d")"
            ok "$net: run from an image on Cortex-M4" on_device "$d/image.elf" "$d/got"
        else
            ok "$net: build from an image with $cc" host "$cc" "$extra" "$d" "$net" "$d/other" "$(imaged "$d")"
            # shellcheck disable=SC2016
            ok "$net: run from an image with $cc" sh -c 'e=$1; shift; $e "$1" "$2" >"$3"' - "$emulator" "$d/other" "$d/ten.in" "$d/got"
        fi
        ok "$net: the same from an image" same "$d/host" "$d/got"
    done
}

packed() { # packed MODEL COUNT FILE
    "$work/pack" "$1/inputs.npy" "$1/labels.npy" "$2" >"$3"
}
try() { # try NET POINTS
    net=$1
    m=$QC_SHARED/models/$net
    d=$work/$net
    mkdir -p "$d"
    ok "$net: calibrate" calibrated "$net" "$d"
    ok "$net: compile" "$QUANTC" compile $N/"$net".cfg --model "$m/model.onnx" \
        --record "$d/record.txt" --weights -o "$d"
    ok "$net: inputs" packed "$m" 0 "$d/all.in"
    ok "$net: ten inputs" packed "$m" 10 "$d/ten.in"
    ok "$net: build" host "$CC" "" "$d" "$net" "$d/run"
    ok "$net: run" sh -c '"$1" "$2" >"$3"' - "$d/run" "$d/all.in" "$d/host"
    ok "$net: top-1" accurate "$d/host" "$m/expect/accuracy.json" "$2"
    echo "$net: $(tail -n 1 "$d/host"); top-1 $(accurate "$d/host" "$m/expect/accuracy.json" "$2")"
    case " $few " in
    *" $net "*) some=ten ;;
    *) some=all ;;
    esac
    for c in "clang: " "s390x-linux-gnu-gcc:-static:qemu-s390x" "powerpc-linux-gnu-gcc:-static:qemu-ppc"; do
        cc=${c%%:*}
        emulator=${c##*:}
        extra=${c#*:}
        extra=${extra%%:*}
        # shellcheck disable=SC2086
        if has "$cc" && { [ -z "${emulator# }" ] || has $emulator; }; then
            ok "$net: build with $cc" host "$cc" "$extra" "$d" "$net" "$d/other"
            # shellcheck disable=SC2016
            ok "$net: run with $cc" sh -c 'e=$1; shift; $e "$1" "$2" >"$3"' - "$emulator" "$d/other" "$d/$some.in" "$d/got"
            ok "$net: the same with $cc" same "$d/host" "$d/got"
        else
            skip 1 "$net: no $cc or $emulator"
        fi
    done
    try_image "$d" "$net"
    if has arm-none-eabi-gcc && has qemu-system-arm; then
        ok "$net: build for Cortex-M4" device "$d" "$net" "$d/run.elf"
        ok "$net: run on Cortex-M4" on_device "$d/run.elf" "$d/got"
        ok "$net: the same on Cortex-M4" same "$d/host" "$d/got"
    else
        skip 1 "$net: no arm-none-eabi-gcc or qemu-system-arm"
    fi
}

if [ ! -d "$QC_SHARED/models" ]; then
    skip 5 "networks: no $QC_SHARED/models"
    finish
fi
ok "pack_inputs: build" "$CC" -std=gnu99 -Wall -Wextra -Igen -Iruntime $N/pack_inputs.c \
    "$BUILD/libqc.a" "$BUILD/libquantrt-f32.a" "$BUILD/libquantrt.a" -lcjson -lm -o "$work/pack"
try lenet_mnist 0.5
try mlp_digits 0.5
try dscnn_fsdd 0.5
try resnet_fsdd 0.5
try mlperf_resnet8 1
finish
