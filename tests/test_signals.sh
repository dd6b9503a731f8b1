#!/bin/sh
# A signal in the middle of each command that writes files, before every call
# that changes one: afterwards stands the old output or the new one, whole, and
# no temporary. After SIGKILL temporaries may lie about; what bears an output's
# name is whole. Then the same for disks that are full or not to be written.
. "$(dirname "$0")/lib.sh"

d=$PWD/examples/digits
top=$PWD
if ! "$CC" -shared -fPIC -O1 tests/faults/shim.c -o "$work/shim.so" -ldl 2>"$work/.log" ||
    ! LD_PRELOAD=$work/shim.so true 2>"$work/.log"; then
    skip 1 "no shared library can be preloaded: signals"
    finish
fi
cd "$work" || exit 1
cp "$d"/quant.cfg "$d"/model.onnx "$d"/record.txt .
sed 's/search_step : [0-9.]*/search_step : 0.02/; s/search_step: [0-9.]*/search_step: 0.02/' quant.cfg >other.cfg
mkdir data
"$CC" "$top/tests/faults/make_npy.c" -o make_npy && ./make_npy data/conv1.npy data/dw.npy data/pw.npy data/fc.npy
printf 'batch_num: 1\ncommon_config { ifmr_quantize { search_step: 0.1 } }\n' >quant-small.cfg
sed 's/0.1/0.2/' quant-small.cfg >other-small.cfg
for c in quant other; do
    "$QUANTC" calibrate "$c-small.cfg" --model model.onnx --data data --partial "$c.qobs"
done

# run COMMAND quant|other: writes into out
run() {
    case $1 in
    compile) "$QUANTC" compile "$2.cfg" --model model.onnx --record record.txt -o out --plan out/plan.json ;;
    image) "$QUANTC" image "$2.cfg" --model model.onnx --record record.txt -o out/quant.img ;;
    calibrate) "$QUANTC" calibrate "$2-small.cfg" --model model.onnx --data data -o out/record.txt --report out/report.json ;;
    partial) "$QUANTC" calibrate "$2-small.cfg" --model model.onnx --data data --partial out/state.qobs ;;
    merge) "$QUANTC" merge "$2.qobs" -o out/record.txt ;;
    esac
}
is() { diff -r "$1" out >/dev/null; }
# No file is a mixture, and none is there but those of the command.
is_whole() { # is_whole COMMAND
    for f in out/*; do
        case $f in
        *.??????) continue ;;
        *.??????~) continue ;;
        esac
        name=$(basename "$f")
        cmp -s "$f" "$1.old/$name" || cmp -s "$f" "$1.new/$name" || return 1
    done
    for f in "$1".old/*; do
        [ -e "out/$(basename "$f")" ] || return 1
    done
}
# signals COMMAND NUMBER: the signal comes before the first call, the second ...
signals() {
    k=0
    total=1
    while [ "$k" -le "$total" ]; do
        rm -rf out count && cp -rp "$1.old" out
        SHIM_CALL=output SHIM_AT=$k SHIM_DO=signal SHIM_SIGNAL=$2 SHIM_COUNT=count \
            LD_PRELOAD=$work/shim.so run "$1" quant >/dev/null 2>err
        status=$?
        [ "$k" = 0 ] && total=$(cat count)
        good=no
        if [ "$k" = 0 ]; then
            [ "$status" = 0 ] && is "$1.new" && good=yes
        elif [ "$2" = 25 ]; then # ignored once writing has begun
            [ "$status" = 0 ] && is "$1.new" && good=yes
            [ "$status" = 153 ] && is "$1.old" && good=yes
        elif [ "$2" = 9 ]; then
            [ "$status" = 137 ] && is_whole "$1" && good=yes
        else
            [ "$status" = $((128 + $2)) ] && { is "$1.old" || is "$1.new"; } && good=yes
        fi
        if [ "$good" = no ]; then
            echo "before call $k of $total: status $status"
            cat err
            ls -la out
            return 1
        fi
        k=$((k + 1))
    done
    # at least: temporary, write, mode, flush, second name, rename, unlink
    [ "$total" -ge 7 ] || { echo "$total calls"; return 1; }
}
for c in compile image calibrate partial merge; do
    rm -rf out
    mkdir out
    ok "$c: old output" run $c other
    mv out $c.old
    mkdir out
    ok "$c: new output" run $c quant
    mv out $c.new
    fails 1 "$c: they differ" diff -r $c.old $c.new
    ok "$c: SIGTERM" signals $c 15
    ok "$c: SIGKILL" signals $c 9
done
for s in "HUP 1" "INT 2" "QUIT 3" "PIPE 13" "XFSZ 25"; do
    # shellcheck disable=SC2086
    set -- $s
    ok "compile: SIG$1" signals compile "$2"
done

# A signal that is ignored, or was held up before, changes nothing.
ignored() {
    k=1
    while [ "$k" -le 7 ]; do
        rm -rf out && cp -rp image.old out
        (
            trap '' HUP
            export SHIM_CALL=output SHIM_AT=$k SHIM_DO=signal SHIM_SIGNAL=1 LD_PRELOAD="$work/shim.so"
            run image quant
        ) || return 1
        is image.new || return 1
        k=$((k + 1))
    done
}
ok "a signal that is ignored" ignored

# ---- disks ----
# In a name space of our own everybody may mount.
if unshare -rm mount -t tmpfs none "$work/data" 2>"$log"; then
    space="unshare -rm"
else
    skip 3 "no tmpfs can be mounted: full and read-only disks"
    finish
fi
mkdir -p disk
# on_disk SIZE PREPARATION: on a small disk with the old output the new one is
# not written, and the old one stays
on_disk() {
    cat >on_disk.sh <<EOF
mount -t tmpfs -o size=$1 none disk || exit 1
cp compile.old/* disk || exit 1
$2
"$QUANTC" compile quant.cfg --model model.onnx --record record.txt -o disk --plan disk/plan.json
[ \$? = 3 ] || { echo "status \$?"; exit 1; }
rm -f disk/filler
diff -r compile.old disk
EOF
    $space sh on_disk.sh
}
k=$(du -k compile.old | cut -f1)
ok "a full disk" on_disk 1m "head -c 2m /dev/zero >disk/filler 2>/dev/null; true"
ok "a disk with room for some of the files" on_disk "$((k + 12))k" true
ok "a disk that is read only" on_disk 1m "mount -o remount,ro disk"
finish
