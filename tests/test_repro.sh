#!/bin/sh
# The same bytes everywhere: from two folders, under another umask and locale,
# from quantc built by other compilers, at other optimisation levels, for 32
# bits, and on a big-endian machine.
. "$(dirname "$0")/lib.sh"

top=$PWD
digits="$top/examples/digits"
sample="$top/examples/mindspore-sample"

# make_all QUANTC DIR: every kind of output of our own inputs
make_all() {
    mkdir -p "$2"
    (
        cd "$2" || exit 1
        cp "$digits"/quant.cfg "$digits"/config.json "$digits"/model.onnx "$digits"/record.txt .
        cp "$sample"/quant.cfg sample.cfg && cp "$sample"/model.layers .
        # shellcheck disable=SC2086
        $1 compile quant.cfg --model model.onnx --record record.txt -o ptq --weights &&
            $1 compile config.json --model model.onnx -o qat &&
            $1 compile sample.cfg --layers model.layers -o sample 2>warnings &&
            $1 image quant.cfg --model model.onnx --record record.txt -o quant.img &&
            $1 layers model.onnx >layers &&
            $1 config quant.cfg --model model.onnx >config &&
            $1 explain quant.cfg --model model.onnx >explain
    )
}
same() { diff -r "$work/reference" "$1"; }
# models QUANTC DIR: the tables of all real models
models() {
    for m in "$QC_SHARED"/models/*/; do
        [ -f "$m/expect/record.txt" ] || continue
        # shellcheck disable=SC2086
        $1 compile "$m/quant.cfg" --model "$m/model.onnx" --record "$m/expect/record.txt" \
            -o "$2/$(basename "$m")" --weights 2>/dev/null || return 1
    done
    # the depfile holds the paths as given
    find "$2" -name '*.d' -delete
}

ok "reference" make_all "$QUANTC" "$work/reference"
ok "another folder" make_all "$QUANTC" "$work/some where/else"
ok "another folder, same bytes" same "$work/some where/else"
(umask 077 && make_all "$QUANTC" "$work/umask")
ok "umask 077, same bytes" same "$work/umask"
ok "umask is obeyed" sh -c 'ls -l "$0" | grep -q "^-rw-------"' "$work/umask/ptq/quant_tables.c"
(LC_ALL=C TZ=UTC make_all "$QUANTC" "$work/lc-c")
ok "LC_ALL=C, same bytes" same "$work/lc-c"
(LC_ALL=C.UTF-8 TZ=Asia/Shanghai make_all "$QUANTC" "$work/lc-utf8")
ok "LC_ALL=C.UTF-8, same bytes" same "$work/lc-utf8"

if has localedef && localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" 2>/dev/null; then
    (LOCPATH=$work LC_ALL=de_DE.UTF-8 make_all "$QUANTC" "$work/lc-de")
    ok "a locale with decimal comma, same bytes" same "$work/lc-de"
else
    skip 1 "no localedef with de_DE: decimal comma"
fi

if [ -d "$QC_SHARED/models" ]; then
    ok "real models: reference" models "$QUANTC" "$work/models"
else
    skip 1 "real models: no $QC_SHARED/models"
fi

# variant NAME RUNNER MAKE-ARGUMENTS...: builds another quantc and compares
variant() {
    v=$1
    runner=$2
    shift 2
    b=$BUILD/variants/$v
    ok "$v: build" make -s BUILD="$b" SCHEMAC="$BUILD/schemac" "$@" "$b/quantc"
    ok "$v: outputs" make_all "$runner $b/quantc" "$work/$v"
    ok "$v: same bytes" same "$work/$v"
    if [ -d "$QC_SHARED/models" ]; then
        ok "$v: real models" models "$runner $b/quantc" "$work/models-$v"
        ok "$v: real models, same bytes" diff -r "$work/models" "$work/models-$v"
    fi
}
runs() { printf 'int main(void){return 0;}\n' | $1 -x c - -o "$work/probe" 2>/dev/null && $2 "$work/probe"; }

# On s390x only the gnu dialects compute binary32 in binary32.
variant gcc-O0 "" CC=gcc CFLAGS=-O0
variant gcc-O3 "" CC=gcc CFLAGS=-O3
if has clang; then
    variant clang-O2 "" CC=clang CFLAGS=-O2
else
    skip 5 "no clang"
fi
m32="gcc -m32 -I/usr/include/x86_64-linux-gnu"
if runs "$m32" ""; then
    variant gcc-m32 "" CC="$m32" CFLAGS="-O2 -msse2 -mfpmath=sse" CJSON=0
else
    skip 5 "no gcc -m32"
fi
if has qemu-s390x && runs "s390x-linux-gnu-gcc -static" qemu-s390x; then
    variant s390x qemu-s390x CC=s390x-linux-gnu-gcc CFLAGS="-O2 -std=gnu99" LDFLAGS=-static CJSON=0
else
    skip 5 "no s390x compiler and qemu-s390x"
fi
if has qemu-ppc && runs "powerpc-linux-gnu-gcc -static" qemu-ppc; then
    variant powerpc qemu-ppc CC=powerpc-linux-gnu-gcc CFLAGS=-O2 LDFLAGS=-static CJSON=0
else
    skip 5 "no powerpc compiler and qemu-ppc"
fi
finish
