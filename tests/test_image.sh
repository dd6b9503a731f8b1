#!/bin/sh
# Deployment images say what the tables say, on this machine and on a
# big-endian one, and survive every mutation.
. "$(dirname "$0")/lib.sh"

d=examples/digits
sources=$(ls runtime/image.c runtime/real.c runtime/fixed.c runtime/softf32.c runtime/scale.c 2>/dev/null)
flags="-std=gnu99 -Wall -Wextra -DQRT_OFFLOAD=0 -Iruntime"

make_image() { # make_image NAME CONFIG OPTIONS...
    n=$1
    shift
    "$QUANTC" compile "$@" -o "$work/$n" && "$QUANTC" image "$@" -o "$work/$n/quant.img"
}
build() { # build NAME PROGRAM COMPILER...
    n=$1
    p=$2
    shift 2
    # shellcheck disable=SC2086
    "$@" $flags -I"$work/$n" tests/image/check_image.c "$work/$n/quant_tables.c" $sources -o "$work/$p"
}
sanitize=
printf 'int main(void){return 0;}\n' >"$work/probe.c"
if "$CC" -fsanitize=address,undefined "$work/probe.c" -o "$work/probe" 2>/dev/null && "$work/probe"; then
    sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
fi

for kind in ptq qat; do
    case $kind in
    ptq) ok "$kind: image" make_image $kind $d/quant.cfg --model $d/model.onnx --record $d/record.txt ;;
    qat) ok "$kind: image" make_image $kind $d/config.json --model $d/model.onnx ;;
    esac
    # shellcheck disable=SC2086
    ok "$kind: build" build $kind check-$kind "$CC" -O1 -g $sanitize
    ok "$kind: the same values; 10,000 mutations" "$work/check-$kind" "$work/$kind/quant.img" 10000
done
if command -v qemu-s390x >/dev/null && command -v s390x-linux-gnu-gcc >/dev/null; then
    ok "big-endian: build" build ptq check-be s390x-linux-gnu-gcc -O1 -static
    ok "big-endian: the same values; mutations" qemu-s390x "$work/check-be" "$work/ptq/quant.img" 500
else
    skip 2 "no s390x compiler and qemu-s390x"
fi
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
