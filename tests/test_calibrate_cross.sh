#!/bin/sh
# Shards of one calibration from quantc on a 32-bit and on a big-endian machine:
# the record is that of this one.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"

config=$top/tests/calib/config.json
model=$top/examples/digits/model.onnx
data=$top/tests/calib/data

# cross NAME CC CFLAGS LDFLAGS: a quantc in $BUILD/calib-NAME
cross() {
    (cd "$top" && MAKEFLAGS='' ${MAKE:-make} -s BUILD="$BUILD/calib-$1" \
        CC="$2" CFLAGS="$3" LDFLAGS="$4" CJSON=0 SCHEMAC="$BUILD/schemac" \
        "$BUILD/calib-$1/quantc")
}
# A wrapper, so that one word runs it.
runs() { # runs NAME COMMAND...
    _name=$1
    shift
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$work/$_name"
    chmod +x "$work/$_name"
}
for i in 0 1; do
    mkdir -p "$work/data$i"
    for l in conv1 dw pw fc; do cp "$data/$l/$i.npy" "$work/data$i/$l.npy"; done
done
calibrate() { # calibrate HOST OPTIONS...
    _host=$1
    shift
    "$work/$_host" calibrate "$config" --model "$model" "$@"
}
# sharded FIRST SECOND LAST: the record of shards from two hosts, merged by one
sharded() {
    again=
    for round in 1 2 3 4; do
        # shellcheck disable=SC2086 # empty, or an option and its value
        { calibrate "$1" --data "$work/data0" --partial "$work/0.qobs" $again &&
            calibrate "$2" --data "$work/data1" --partial "$work/1.qobs" \
                $again; } || return 1
        "$work/$3" merge "$work/0.qobs" "$work/1.qobs" -o "$work/merged.txt" \
            --again "$work/$round.qobs"
        status=$?
        again="--resume $work/$round.qobs"
        [ $status = 5 ] || break
    done
    [ $status = 0 ] && cmp "$work/merged.txt" "$work/host.txt"
}
whole() {
    calibrate "$1" --data "$data" -o "$work/$1.txt" -j2 &&
        cmp "$work/$1.txt" "$work/host.txt"
}

runs host "$QUANTC"
calibrate host --data "$data" -o "$work/host.txt"

i386=0
if printf '#include <stdio.h>\nint main(void){return 0;}\n' |
    gcc -m32 -I/usr/include/x86_64-linux-gnu -x c - -o "$work/m32" \
        2>/dev/null && "$work/m32"; then
    ok "builds for i386" cross i386 \
        "gcc -m32 -I/usr/include/x86_64-linux-gnu" \
        "-O0 -msse2 -mfpmath=sse" ""
    runs i386 "$BUILD/calib-i386/quantc"
    i386=1
    ok "i386: the record of this machine" whole i386
    ok "i386 and this machine" sharded i386 host host
    ok "this machine and i386" sharded host i386 i386
else
    skip 4 "a 32-bit quantc: gcc -m32 builds nothing that runs"
fi
if has s390x-linux-gnu-gcc && has qemu-s390x; then
    # In strict C99 gcc evaluates float as double there, but for the flag.
    ok "builds for s390x" cross s390x s390x-linux-gnu-gcc \
        "-O0 -fexcess-precision=fast" -static
    runs s390x qemu-s390x "$BUILD/calib-s390x/quantc"
    ok "s390x: the record of this machine" whole s390x
    ok "s390x and this machine" sharded s390x host host
    ok "this machine and s390x" sharded host s390x s390x
    if [ $i386 = 1 ]; then
        ok "s390x and i386" sharded s390x i386 host
    else
        skip 1 "s390x and i386 together"
    fi
else
    skip 5 "a big-endian quantc: no s390x-linux-gnu-gcc or no qemu-s390x"
fi
finish
