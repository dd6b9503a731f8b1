#!/bin/sh
# Builds the fuzz targets, with sanitizers and each allocation on its own:
#   build.sh replay DIR       one program with all targets, no fuzzer: replay.c
#   build.sh libfuzzer DIR    a program a target, with clang's libFuzzer
#   build.sh afl DIR          the same with AFL++ (afl-clang-fast and its driver)
# DIR gets its own libraries. SANITIZE: other flags than the usual ones.
set -eu
cd "$(dirname "$0")/../.."
kind=$1
dir=$2
here=tests/fuzz
flags="-O1 -g -fno-omit-frame-pointer -DQC_ARENA_EXACT ${SANITIZE--fsanitize=address,undefined -fno-sanitize-recover=undefined}"
case $kind in
libfuzzer)
    CC=clang
    flags="$flags -fsanitize=fuzzer-no-link"
    ;;
afl) CC=afl-clang-fast AFL_QUIET=1 && export AFL_QUIET ;;
esac
: "${CC:=cc}"
mkdir -p "$dir"
make -s BUILD="$dir" CC="$CC" CFLAGS="$flags" "$dir/libqc.a" "$dir/libquantrt.a" \
    "$dir/libquantrt-f32.a" "$dir/obj/gen/schemac_emit.o" \
    "$dir/obj/gram/proto.tab.o" "$dir/obj/gram/proto.lex.o"

compile() { # compile OUT SOURCE FLAGS...
    out=$1
    source=$2
    shift 2
    # shellcheck disable=SC2086
    "$CC" -std=gnu99 -Wall -Wextra $flags "$@" -I. -Igen -Igrammar -Iruntime \
        -I"$dir" -I"$dir/gram" -DQC_HAVE_CJSON=1 -c "$source" -o "$dir/$out"
}
compile main.o gen/main.c -Dmain=quantc_main
compile schemac.o gen/schemac.c -Dmain=schemac_main
compile fuzz.o $here/fuzz.c
common="main.o schemac.o fuzz.o obj/gen/schemac_emit.o obj/gram/proto.tab.o
    obj/gram/proto.lex.o libqc.a libquantrt-f32.a libquantrt.a"
wrap=
for f in open open64 mmap exit qc_commit qc_make_folder; do
    wrap="$wrap -Wl,--wrap=$f"
done
link() { # link OUT OBJECT... -- FLAGS
    # shellcheck disable=SC2086
    (cd "$dir" && "$CC" $flags "$@" $common $wrap -pthread -lcjson -lm)
}
objects=
for source in $here/fuzz_*.c; do
    name=$(basename "$source" .c)
    if [ "$kind" != replay ]; then
        compile "$name.o" "$source"
        link -fsanitize=fuzzer -o "$name" "$name.o"
    else
        compile "$name.o" "$source" "-DLLVMFuzzerTestOneInput=$name"
        objects="$objects $name.o"
    fi
done
if [ "$kind" = replay ]; then
    compile replay.o $here/replay.c
    # shellcheck disable=SC2086
    link -o replay replay.o $objects
fi
