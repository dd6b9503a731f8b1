#!/bin/sh
# The fuzz targets without a fuzzer: what was found once, the corpora, and
# FUZZ_MUTATIONS mutations (default 27,000) that are the same in every run.
# With sanitizers where the compiler has them.
. "$(dirname "$0")/lib.sh"

top=$PWD
targets="text json proto onnx npy record image state compile"
: "${FUZZ_MUTATIONS:=27000}"
printf 'int main(void){return 0;}\n' >"$work/probe.c"
if "$CC" -fsanitize=address,undefined "$work/probe.c" -o "$work/probe" 2>/dev/null && "$work/probe"; then
    unset SANITIZE
else
    SANITIZE=
    export SANITIZE
    skip 1 "no sanitizers: the mutations run without"
fi
built() { CC="$CC" MAKEFLAGS='' sh tests/fuzz/build.sh replay "$BUILD/fuzz"; }
ok "build" built
cd "$work" || exit 1
# The mutations are shared out evenly.
each=$((FUZZ_MUTATIONS / 9))
for t in $targets; do
    for f in "$top"/tests/fuzz/regressions/"$t".*; do
        [ -e "$f" ] && ok "$(basename "$f")" "$BUILD/fuzz/replay" "$t" "$f"
    done
    ok "$t: corpus and $each mutations" "$BUILD/fuzz/replay" "$t" "$each" "$top/tests/fuzz/corpus/$t.corpus"
done
finish
