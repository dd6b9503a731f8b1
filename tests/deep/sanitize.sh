#!/bin/sh
# The tests with AddressSanitizer, UBSan and leak detection in quantc, in the
# runtime and in what the tests build from them.
#   sanitize.sh BUILD-DIR [TEST...]
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
: "${CC:=cc}"
# What the tests link with the libraries needs the same flags, also where a
# page of docs/ says cc.
mkdir -p "$dir/bin"
printf '#!/bin/sh\nexec %s %s "$@"\n' "$(command -v "$CC")" "$flags" >"$dir/bin/cc"
chmod +x "$dir/bin/cc"
PATH=$dir/bin:$PATH
export PATH
make -s -j2 BUILD="$dir" CC="$dir/bin/cc" CFLAGS= all tests

# Left out, since the sanitizers would not be in what these run, or would be in
# what they measure:
#   other builds and other machines   budget cross calibrate_cross f32_targets
#                                     ifmr_budget ifmr_cross repro integration
#   sanitizers of their own           fuzz ascend
#   names of symbols, source text     symbols misra zh offload_absent
#   time and memory                   limits
#   a preloaded library               failures signals
not="budget cross calibrate_cross f32_targets ifmr_budget ifmr_cross repro integration fuzz
    ascend symbols misra zh offload_absent limits failures signals"
if [ $# = 0 ]; then
    for t in tests/test_*.c; do
        set -- "$@" "$dir/tests/$(basename "$t" .c)"
    done
    for t in tests/test_*.sh; do
        name=$(basename "$t" .sh)
        case " $(echo $not) " in
        *" ${name#test_} "*) ;;
        *) set -- "$@" "$t" ;;
        esac
    done
fi
# abort: no test may take a finding for an expected exit status.
export ASAN_OPTIONS=abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1
QUANTC="$dir/quantc" BUILD="$dir" CC="$dir/bin/cc" CFLAGS='' \
    QC_SHARED="${QC_SHARED:-../shared}" sh tests/run.sh "$dir/logs" "$@"
