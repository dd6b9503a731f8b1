#!/bin/sh
# What can go wrong outside: every allocation fails once, every call into the
# system fails once, a signal comes before every call. Afterwards outputs are
# the old ones or the new ones, whole, and nothing lies about.
. "$(dirname "$0")/lib.sh"

d=$PWD/examples/digits
top=$PWD
if ! "$CC" -shared -fPIC -O1 tests/faults/shim.c -o "$work/shim.so" -ldl 2>"$work/.log" ||
    ! LD_PRELOAD=$work/shim.so true 2>"$work/.log"; then
    skip 1 "no shared library can be preloaded: failures"
    finish
fi
cd "$work" || exit 1
cp "$d"/quant.cfg "$d"/config.json "$d"/model.onnx "$d"/record.txt .
cp "$top/tests/faults/make_npy.c" .
sed 's/search_step : [0-9.]*/search_step : 0.02/; s/search_step: [0-9.]*/search_step: 0.02/' quant.cfg >other.cfg
sed 's/search_step/search_stp/' quant.cfg >bad.cfg
"$QUANTC" layers model.onnx >model.layers
"$QUANTC" image quant.cfg --model model.onnx --record record.txt -o quant.img
echo 'common_config { arq_quantize { channel_wise: true } }' >bare.cfg
echo 'layer { name: "a" type: "Conv2d" weight_shape: [2, 2, 1, 1] }' >bare.layers
mkdir data
"$CC" make_npy.c -o make_npy && ./make_npy data/conv1.npy data/dw.npy data/pw.npy data/fc.npy
printf 'batch_num: 1\ncommon_config { ifmr_quantize { search_step: 0.1 } }\n' >small.cfg
"$QUANTC" calibrate small.cfg --model model.onnx --data data --partial shard.qobs

# ---- memory: a quantc in which each allocation is one of malloc ----
mkdir exact
if make -s -C "$top" BUILD="$BUILD" SCHEMAC="$BUILD/schemac" "$BUILD/obj/gen/main.o" >.log 2>&1 &&
    "$CC" -std=c99 -O1 -DQC_ARENA_EXACT -I"$top" -I"$top/gen" -c "$top/gen/arena.c" -o arena.o &&
    "$CC" -o exact/quantc "$BUILD/obj/gen/main.o" arena.o "$BUILD/libqc.a" "$BUILD/libquantrt.a" \
        "$BUILD/libquantrt-f32.a" -pthread -lcjson -lm 2>.log; then
    n=0
    # every_allocation STATUS ARGS...: the run itself ends with STATUS
    every_allocation() {
        want=$1
        shift
        n=$((n + 1))
        rm -rf "out$n" report
        mkdir "out$n"
        SHIM_CALL=alloc SHIM_COUNT=report SHIM_DIR=out$n LD_PRELOAD=$work/shim.so \
            exact/quantc "$@" >/dev/null 2>"err$n"
        got=$?
        # Buffers of stdio and of qsort can be done without.
        [ "$got" = "$want" ] && grep -q '^[1-9][0-9]* allocations' report &&
            awk -v ok="$want" '/allocations,/ { if ($1 != $3) bad = 1; next }
                /^status/ { if ($2 != ok ":" || $3 > 5) bad = 1; next } { bad = 1 }
                END { exit bad }' report || { cat report; return 1; }
    }
    ok "memory: check" every_allocation 0 check quant.cfg config.json record.txt model.layers
    ok "memory: check, with errors" every_allocation 1 check bad.cfg
    ok "memory: check --diag json" every_allocation 1 check bad.cfg --diag json
    ok "memory: check --diag sarif" every_allocation 1 check bad.cfg --diag sarif
    ok "memory: compile" every_allocation 0 compile quant.cfg --model model.onnx --record record.txt \
        -o out5 --plan out5/plan.json
    ok "memory: compile --weights --selftest" every_allocation 0 compile config.json --model model.onnx \
        -o out6 --weights --selftest
    ok "memory: config" every_allocation 0 config quant.cfg --model model.onnx
    ok "memory: explain" every_allocation 0 explain quant.cfg --model model.onnx --json
    ok "memory: layers" every_allocation 0 layers model.onnx
    ok "memory: dump" every_allocation 0 dump --json quant.cfg
    ok "memory: schema" every_allocation 0 schema --kind json-retrain
    ok "memory: image" every_allocation 0 image quant.cfg --model model.onnx --record record.txt -o out12/q.img
    ok "memory: show" every_allocation 0 show quant.img
    "$QUANTC" compile bare.cfg --layers bare.layers -o bare 2>/dev/null
    ok "memory: show tables" every_allocation 0 show bare
    ok "memory: diff" every_allocation 1 diff quant.cfg other.cfg --model model.onnx
    ok "memory: calibrate" every_allocation 0 calibrate small.cfg --model model.onnx --data data \
        -o out15/record.txt --report out15/report.json
    ok "memory: calibrate --partial" every_allocation 0 calibrate small.cfg --model model.onnx --data data \
        --partial out16/shard.qobs
    ok "memory: merge" every_allocation 0 merge shard.qobs -o out17/record.txt
else
    cat .log
    skip 17 "quantc was not linked anew: memory"
fi

# ---- calls into the system ----
# What a compilation has to leave, one way or the other.
compile() { "$QUANTC" compile "$1" --model model.onnx --record record.txt -o out --weights --plan out/plan.json; }
compile other.cfg 2>/dev/null && cp -r out old
compile quant.cfg 2>/dev/null && cp -r out new
is() { diff -r "$1" out >/dev/null; }

# each CALL DO ERRNO ALLOWED...: lets the first call, the second ... fail; what
# is allowed: STATUS=CONTENT
each() {
    call=$1
    what=$2
    err=$3
    shift 3
    k=0
    total=1
    while [ "$k" -le "$total" ]; do
        rm -rf out count && cp -rp old out
        SHIM_CALL=$call SHIM_AT=$k SHIM_DO=$what SHIM_ERRNO=$err SHIM_COUNT=count \
            LD_PRELOAD=$work/shim.so compile quant.cfg 2>err
        status=$?
        [ "$k" = 0 ] && total=$(cat count)
        [ "$total" -gt 0 ] || { echo "no call"; return 1; }
        good=no
        if [ "$k" = 0 ]; then
            [ "$status" = 0 ] && is new && good=yes
        fi
        for allowed in "$@"; do
            [ "$status" = "${allowed%=*}" ] && is "${allowed#*=}" && good=yes
        done
        if [ $good = no ]; then
            echo "$call $k of $total: status $status"
            cat err
            ls -la out
            return 1
        fi
        k=$((k + 1))
    done
}
cmp -s old/quant_tables.c new/quant_tables.c && echo "the two configurations are alike" && exit 1
ok "write: disk full" each write fail 28 3=old
ok "write: I/O error" each write fail 5 3=old
ok "write: half of it" each write short 0 0=new
ok "write: interrupted" each write fail 4 0=new
ok "close" each close fail 5 3=old 0=new
ok "fsync" each fsync fail 5 3=old
ok "fchmod" each fchmod fail 1 3=old
ok "rename: not permitted" each rename fail 1 3=old
ok "rename: crosses devices" each rename fail 18 3=old
ok "open: not permitted" each open fail 13 3=old 0=new
ok "open: too many" each open every 24 3=old
ok "read: I/O error" each read fail 5 3=old 0=new
ok "mmap: out of memory" each mmap fail 12 4=old
ok "link: file systems without" each link every 1 0=new
ok "a signal before any call" each any signal 0 143=old 143=new
fresh() { # nothing was there before
    k=1
    while [ "$k" -le "$2" ]; do
        rm -rf out
        SHIM_CALL=$1 SHIM_AT=$k LD_PRELOAD=$work/shim.so compile quant.cfg 2>err
        [ $? = 3 ] && [ -z "$(find out -type f 2>/dev/null)" ] || {
            echo "$1 $k"
            ls -la out
            return 1
        }
        k=$((k + 1))
    done
}
ok "nothing was there, mkdir fails" fresh mkdir 1
ok "nothing was there, write fails" fresh write 6
ok "nothing was there, rename fails" fresh rename 6
rm -rf out
fails 153 "the shell itself obeys a limit of file sizes" sh -c 'ulimit -f 1; head -c 100000 /dev/zero >zeros'
rm -rf out && cp -rp old out
fails 3 "a limit of file sizes" sh -c 'ulimit -f 8; exec "$0" compile quant.cfg --model model.onnx --record record.txt -o out --weights' "$QUANTC"
ok "old outputs are intact" is old
fails 3 "--help on a full disk" sh -c '"$0" --help >/dev/full' "$QUANTC"
fails 3 "--version on a full disk" sh -c '"$0" --version >/dev/full' "$QUANTC"
finish
