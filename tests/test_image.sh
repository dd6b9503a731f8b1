#!/bin/sh
# Deployment images say what the tables say, on this machine and on a
# big-endian one, and survive every mutation.
. "$(dirname "$0")/lib.sh"

d=examples/digits
sources="runtime/image.c runtime/image_view.c runtime/layer.c"
flags="-std=gnu99 -Wall -Wextra -DQRT_OFFLOAD=0 -Iruntime"

make_image() { # make_image NAME CONFIG OPTIONS...
    n=$1
    shift
    "$QUANTC" compile "$@" $selftest -o "$work/$n" && "$QUANTC" image "$@" -o "$work/$n/quant.img" || return 1
    [ -f "$work/$n/quant_weights.h" ] || return 0
    sed -n 's/^extern const u*int8_t quant_weight_\(.*\)\[.*/W(\1)/p' "$work/$n/quant_weights.h" >"$work/$n/weights.def"
}
build() { # build NAME PROGRAM COMPILER...
    n=$1
    p=$2
    c=$3
    shift 2
    weights= kernels=
    # Kernels come from where they are, images from where sanitizers look.
    [ -z "$selftest" ] || [ "$c" != "$CC" ] || kernels="-DSELFTEST $BUILD/libquantrt.a"
    [ ! -f "$work/$n/weights.def" ] || weights="-DWEIGHTS $work/$n/quant_weights.c"
    # shellcheck disable=SC2086
    "$@" $flags -I"$work/$n" tests/image/check_image.c "$work/$n/quant_tables.c" $weights $sources $kernels -o "$work/$p"
}
sanitize=
printf 'int main(void){return 0;}\n' >"$work/probe.c"
if "$CC" -fsanitize=address,undefined "$work/probe.c" -o "$work/probe" 2>/dev/null && "$work/probe"; then
    sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
fi
selftest=
digits="--model $d/model.onnx"
joins="--model tests/models/joins.onnx --record $work/joins.txt"

# Every kind of join; in one record 'b' has another scale, so that edges differ.
sed -n '/^record {/p' tests/resolve/joins.case >"$work/joins.txt"
sed '/"limited"/d; /"b"/s/0.03125/0.0625/; s/ } }$/ wts_type: "INT4" } }/' "$work/joins.txt" >"$work/joins4.txt"
echo 'common_config { arq_quantize { channel_wise: false } }' >"$work/joins.cfg"
echo 'skip_layers: "limited" common_config { arq_quantize { quant_bits: 4 channel_wise: false } }' >"$work/joins4.cfg"
# 10,000 mutations in all.
# shellcheck disable=SC2086
for kind in ptq qat joins joins4; do
    layout=0 selftest=
    case $kind in
    ptq) set -- 4000 $d/quant.cfg $digits --record $d/record.txt ;;
    qat) set -- 2000 $d/config.json $digits ;;
    joins)
        set -- 3000 "$work/joins.cfg" $joins --weights
        selftest=--selftest
        ;;
    joins4)
        set -- 1000 "$work/joins4.cfg" --model tests/models/joins.onnx --record "$work/joins4.txt" --weights --layout cmsis --no-words
        layout=1
        ;;
    esac
    mutations=$1
    shift
    ok "$kind: image" make_image $kind "$@"
    ok "$kind: build" build $kind check-$kind "$CC" -O1 -g -DLAYOUT=$layout $sanitize
    ok "$kind: the same values; mutations" "$work/check-$kind" "$work/$kind/quant.img" "$mutations"
    if has qemu-s390x && has s390x-linux-gnu-gcc; then
        ok "$kind, big-endian: build" build $kind check-be s390x-linux-gnu-gcc -O1 -static -DLAYOUT=$layout
        ok "$kind, big-endian: the same values; mutations" qemu-s390x "$work/check-be" "$work/$kind/quant.img" 200
    else
        skip 2 "$kind: no s390x compiler and qemu-s390x"
    fi
done
ok "joins: one of each" sh -c '"$1" "$2" 10 | grep -qx "joins: [1-9].* same, [1-9].* edge, [1-9].* sum, [1-9].* concat; [1-9].* means, [1-9].* tables, 0 edges of their own"' - "$work/check-joins" "$work/joins/quant.img"
ok "joins: edges of their own" sh -c '"$1" "$2" 10 | grep -q ", [1-9][0-9]* edges of their own"' - "$work/check-joins4" "$work/joins4/quant.img"
ok "same bytes twice" sh -c '"$0" image examples/digits/quant.cfg --model examples/digits/model.onnx --record examples/digits/record.txt -o "$1/2.img" && cmp "$1/2.img" "$1/ptq/quant.img"' "$QUANTC" "$work"
ok "show says every layer" sh -c '[ "$("$0" show "$1/ptq/quant.img" | grep -c scale_d)" = 4 ]' "$QUANTC" "$work"
if [ -d "$QC_SHARED/models" ]; then
    for m in "$QC_SHARED"/models/*/; do
        [ -f "$m/expect/record.txt" ] || continue
        n=$(basename "$m")
        ok "$n: image" make_image "$n" "$m/quant.cfg" --model "$m/model.onnx" --record "$m/expect/record.txt"
        # shellcheck disable=SC2086
        ok "$n: build" build "$n" "check-$n" "$CC" -O1 -g $sanitize
        ok "$n: the same values; mutations" "$work/check-$n" "$work/$n/quant.img" 1000
    done
else
    skip 1 "real models: no $QC_SHARED/models"
fi
finish
