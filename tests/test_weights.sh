#!/bin/sh
# quantc compile --weights: the three forms hold the same numbers, on every
# compiler; numbers that do not fit are refused; BatchNorm folded by quantc or
# by the exporter gives the same tables.
. "$(dirname "$0")/lib.sh"
models=tests/models

record() { # record LAYER...
    for l in "$@"; do
        printf 'record { key: "%s" value { scale_d: 0.03125 offset_d: -3 scale_w: 0.0078125 offset_w: 0 } }\n' "$l"
    done
}
cat >"$work/one.cfg" <<'END'
activation_offset: true
common_config { arq_quantize { channel_wise: false } }
END
compile() { # compile FORM DIR ARGUMENT...: the model of all layouts
    form=$1
    d=$2
    shift 2
    "$QUANTC" compile "$work/one.cfg" --model $models/layouts.onnx --record "$work/layouts.txt" \
        --weights --weights-form "$form" -o "$d" "$@"
}

# ---- forms ----

record conv depthwise grouped deconv deconv_grouped n10 gemm_oi gemm_io plain one_bias >"$work/layouts.txt"

dump() { # dump CC FLAGS DIR SOURCE...
    cc=$1 fl=$2 d=$3
    shift 3
    sh tests/compile/dump_weights.sh "$d" >"$d/dump.c"
    # shellcheck disable=SC2086
    $cc $fl -std=c99 -Wall -Wextra -Werror -I"$d" "$d/dump.c" "$d/quant_weights.c" "$@" -o "$d/dump" && "$d/dump" >"$d/numbers"
}
as_incbin() { (cd "$2" && "$1" -c quant_weights.S -o "$2/$3.o"); }

for layout in onnx cmsis; do
    for form in decimal string incbin; do
        ok "$layout, $form: compile" compile $form "$work/$form" --layout $layout
    done
    ok "$layout, decimal: numbers" dump "$CC" -pedantic "$work/decimal"
    want=$work/decimal/numbers
    ok "$layout: there are numbers" test "$(wc -l <"$want")" = 27
    for c in gcc clang; do
        if has $c; then
            ok "$layout, string: $c" dump $c "" "$work/string"
            ok "$layout, string: the same numbers, $c" cmp "$want" "$work/string/numbers"
            ok "$layout, incbin: assemble, $c" as_incbin $c "$work/incbin" quant_weights
            ok "$layout, incbin: $c" dump $c "-pedantic" "$work/incbin" "$work/incbin/quant_weights.o"
            ok "$layout, incbin: the same numbers, $c" cmp "$want" "$work/incbin/numbers"
        else
            skip 5 "$layout: no $c"
        fi
    done
    if has arm-none-eabi-gcc; then
        ok "$layout, incbin: assemble for ARM" as_incbin arm-none-eabi-gcc "$work/incbin" arm
        ok "$layout, incbin: the same bytes on ARM" sh -c 'cd "$1" &&
            objcopy -O binary -j .rodata.quant_weights quant_weights.o host.bin &&
            arm-none-eabi-objcopy -O binary -j .rodata.quant_weights arm.o arm.bin &&
            [ -s host.bin ] && cmp host.bin arm.bin' - "$work/incbin"
        for form in decimal string; do
            ok "$layout, $form: compile for ARM" arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -ffreestanding -std=c99 \
                -Wall -Wextra -Werror -c "$work/$form/quant_weights.c" -o "$work/$form/arm.o"
        done
    else
        skip 4 "$layout: no arm-none-eabi-gcc"
    fi
    if has g++; then
        ok "$layout, decimal: C++" g++ -x c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only "$work/decimal/quant_weights.h"
    else
        skip 1 "$layout: no g++"
    fi
done
# A C++ compiler counts the end of a string literal: what is too long for
# decimals is C.
ok "auto: small arrays are decimal" sh -c 'cd "$1" && "$2" compile one.cfg --model "$3/layouts.onnx" --record layouts.txt \
    --weights -o auto && ! grep -q "= *$" auto/quant_weights.c && grep -q "{$" auto/quant_weights.c' - "$work" "$QUANTC" "$PWD/$models"

# ---- the depfile ----

ok "depfile names the weights" sh -c 'head -n 1 "$1" | grep -q "quant_weights.h .*quant_weights.c .*quant_weights.bin .*quant_weights.S:"' - "$work/incbin/quant_tables.d"

# ---- what does not fit ----

record wide huge near >"$work/overflows.txt"
sed 's/\(huge.*\)scale_w: 0.0078125/\1scale_w: 32/; s/\(near.*\)scale_d: 0.03125/\1scale_d: 128/' \
    "$work/overflows.txt" >"$work/near.txt"
sed 's/scale_w: 0.0078125/scale_w: 32/; s/offset_d: -3/offset_d: 0/' "$work/overflows.txt" | grep -v near >"$work/fit.txt"
echo 'skip_layers: "near" common_config { arq_quantize { channel_wise: false } }' >"$work/no_near.cfg"
overflow() { # overflow CONFIG RECORD ARGUMENT...
    c=$1
    r=$2
    shift 2
    "$QUANTC" compile "$work/$c" --model $models/overflows.onnx --record "$work/$r" -o "$work/overflow" "$@"
}
says() { # says TEXT COMMAND...
    text=$1
    shift
    "$@" 2>"$work/.says" && return 1
    grep -qF "$text" "$work/.says" || { cat "$work/.says"; return 1; }
}
ok "bias overflow names layer and channel" says "error: the bias of layer 'huge', channel 1, does not fit 32 bits" \
    overflow one.cfg overflows.txt --weights
ok "all overflows in one run" says "error: the bias of layer 'near', channel 1, does not fit 32 bits" \
    overflow one.cfg overflows.txt --weights
fails 1 "nothing is written after an overflow" test -e "$work/overflow/quant_weights.c"
ok "accumulator overflow names layer and channel" says \
    "error: the accumulator of layer 'near', channel 1, does not fit 32 bits" overflow one.cfg near.txt --weights
ok "what fits is written" overflow no_near.cfg fit.txt --weights
cat >"$work/16.cfg" <<'END'
skip_layers: "near"
skip_layers: "huge"
common_config { arq_quantize { channel_wise: false } }
override_layer_configs {
    layer_name: "wide"
    calibration_config { ifmr_quantize { dst_type: INT16 asymmetric: false } arq_quantize { channel_wise: false } }
}
END
record wide | sed 's/0.0078125/1e-4/; s/offset_d: -3/offset_d: 0 act_type: "INT16"/' >"$work/16.txt"
ok "600 products of 16 by 8 bits overflow" says "error: the accumulator of layer 'wide', channel 0, does not fit 32 bits" \
    overflow 16.cfg 16.txt --weights

# ---- weights in every form, and such as have no codes ----

record raw_conv packed_conv unpacked_conv pieces_conv packed_twice_conv double_conv half_conv half_list_conv \
    >"$work/types.txt"
ok "binary16, 32 and 64: compile" "$QUANTC" compile "$work/one.cfg" --model $models/forms.onnx \
    --record "$work/types.txt" --weights -o "$work/types"
ok "binary16, 32 and 64: the same codes" test "$(grep -c '^    64, -128, 127, 32,$' "$work/types/quant_weights.c")" = 8
ok "no line ends in a blank" sh -c '! grep -n " $" "$0"/*/quant_*.[ch]' "$work"
record nan inf bias_nan integers short no_variance folds_to_inf sound | sed 's/offset_d: -3/offset_d: 0/' \
    >"$work/faulty.txt"
echo 'common_config { arq_quantize { channel_wise: false } }' >"$work/faulty.cfg"
for each in "the weights of layer 'nan' hold a number that is not finite [" \
    "the weights of layer 'inf' hold a number that is not finite [" \
    "the bias of layer 'bias_nan' holds a number that is not finite [" \
    "tensor 'integers.weight' holds no floating-point data that can be read [" \
    "tensor 'short.g' has 3 elements for 2 channels [" \
    "into layer 'no_variance' gives no finite value in channel 0 [" \
    "the weights of layer 'folds_to_inf' hold a number that is not finite after folding ["; do
    ok "refused: $each" says "$each" "$QUANTC" compile "$work/faulty.cfg" --model $models/faulty_weights.onnx \
        --record "$work/faulty.txt" --weights -o "$work/faulty"
done
fails 1 "nothing is written of faulty weights" test -e "$work/faulty"

# ---- BatchNorm ----

cat >"$work/bn.cfg" <<'END'
do_fusion: true
common_config { arq_quantize { channel_wise: false } }
END
record conv depthwise grouped >"$work/bn.txt"
bn() { # bn MODEL DIR CONFIG RECORD
    "$QUANTC" compile "$work/$3" --model $models/"$1".onnx --record "$work/$4" --weights -o "$work/$2"
}
# The tables without the lines that name the inputs.
plain() {
    sed '/^ \*  *\(from\|   \)/d; / (crc32 /d; s/; BatchNorm folded in//; /_\(HASH\|CRC32\)  *0x/d' "$work/$1/quant_$2"
}
same() { # same DIR DIR FILE
    plain "$1" "$3" >"$work/one.text"
    plain "$2" "$3" >"$work/two.text"
    cmp "$work/one.text" "$work/two.text"
}
differ() { ! same "$@"; }
ok "folded by quantc: compile" bn bn folds bn.cfg bn.txt
ok "folded by the exporter: compile" bn bn_folded folded bn.cfg bn.txt
for f in tables.c tables.h weights.c weights.h; do
    ok "folded by quantc or the exporter: the same quant_$f" same folds folded $f
done
sed 's/true/false/' "$work/bn.cfg" >"$work/bn_no.cfg"
ok "do_fusion false: compile" bn bn kept bn_no.cfg bn.txt
ok "do_fusion false: other weights" differ folds kept weights.c
ok "do_fusion false: nothing is requantized through a BatchNorm" sh -c '! grep -q "struct qrt_edge edge_" "$1"' - \
    "$work/kept/quant_tables.c"
sed '1a skip_fusion_layers: "depthwise"' "$work/bn.cfg" >"$work/bn_skip.cfg"
sed '/depthwise/s/offset_w: 0/offset_w: 0 skip_fusion: true/' "$work/bn.txt" >"$work/bn_skip.txt"
ok "skip_fusion_layers: compile" bn bn skip bn_skip.cfg bn.txt
ok "skip_fusion of the record: compile" bn bn skip_record bn.cfg bn_skip.txt
ok "either way the same weights" same skip skip_record weights.c
folded() { grep -c 'BatchNorm folded in' "$work/$1/quant_weights.h"; }
ok "skip_fusion: the others are folded" test "$(folded skip) $(folded folds) $(folded kept)" = "2 3 0"

# ---- real exports, folded and not ----

calibrated() { # calibrated NET FILE
    m=$QC_SHARED/models/$1
    d=$work/$1-$2
    mkdir -p "$d/data"
    for f in "$m"/activations/*.npy; do
        ln -sf "$(realpath "$f")" "$d/data/"
    done
    # The exporter's paths name two layers in another way.
    cp "$m/activations/index.json" "$d/data/index.json"
    [ "$2" = model ] || sed 's/"\(layer[23].0.downsample\).0":/"\1.downsample.0":/' "$m/activations/index.json" >"$d/data/index.json"
    "$QUANTC" calibrate tests/nets/"$1".cfg --model "$m/$2.onnx" --data "$d/data" -o "$d/record.txt" &&
        "$QUANTC" compile tests/nets/"$1".cfg --model "$m/$2.onnx" --record "$d/record.txt" --weights -o "$d"
}
# Numbers only, in graph order: names, their order and widths differ.
numbers() {
    sed '/by_name\[/,/};/d; s/"[^"]*"//g; s/\/\*[^*]*\*\///g' "$work/$1/$2" | grep -v '^ \*\|_HASH' |
        sed 's/[A-Za-z_][A-Za-z_0-9]*//g' | tr -d ' '
}
equal() {
    numbers "$1" "$3" >"$work/one.text"
    numbers "$2" "$3" >"$work/two.text"
    [ -s "$work/one.text" ] && cmp "$work/one.text" "$work/two.text"
}
if [ -d "$QC_SHARED/models" ]; then
    for net in dscnn_fsdd resnet_fsdd; do
        ok "$net: with BatchNorm" calibrated $net model
        ok "$net: folded by the exporter" calibrated $net model_folded
        for f in quant_tables.c quant_weights.c; do
            ok "$net: the same numbers in $f" equal $net-model $net-model_folded $f
        done
    done
else
    skip 8 "real exports: no $QC_SHARED/models"
fi
finish
