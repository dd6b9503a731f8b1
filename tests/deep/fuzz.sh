#!/bin/sh
# Every fuzz target with a fuzzer, from its corpus and what earlier runs have
# found; or with random mutations:
#   fuzz.sh libfuzzer BUILD-DIR [TARGET...]   FUZZ_SECONDS (60) for each target
#   fuzz.sh afl BUILD-DIR [TARGET...]         the same with AFL++
#   fuzz.sh random BUILD-DIR [TARGET...]      FUZZ_MUTATIONS (10,000,000) for all
# The input of a fault is kept in BUILD-DIR. Make it small (-minimize_crash=1),
# put it into tests/fuzz/regressions as TARGET.WHAT-IT-IS: every `make check`
# tries it from then on.
set -u
cd "$(dirname "$0")/../.." || exit 1
kind=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
corpus=$PWD/tests/fuzz/corpus
: "${FUZZ_SECONDS:=60}"
: "${FUZZ_MUTATIONS:=10000000}"
[ $# -gt 0 ] || set -- text json proto onnx npy record image state compile
failed=0
[ "$kind" != random ] || kind=replay
sh tests/fuzz/build.sh "$kind" "$dir/$kind" || exit 1
cd "$dir" || exit 1

# unpack CORPUS FOLDER: a length and a line feed before each file, one behind it
unpack() {
    rm -rf "$2"
    mkdir -p "$2"
    while read -r n <&3; do
        head -c "$n" <&3 >"$2/$(ls "$2" | wc -l)"
        read -r _ <&3
    done 3<"$1"
}
replay() { # replay TARGET
    replay/replay "$1" "$each" "$corpus/$1.corpus"
}
libfuzzer() { # libfuzzer TARGET
    mkdir -p "found/$1"
    if "libfuzzer/fuzz_$1" -max_total_time="$FUZZ_SECONDS" -timeout=5 -rss_limit_mb=3000 \
        -max_len=16384 -close_fd_mask=2 -artifact_prefix="$dir/fault-$1-" \
        "found/$1" "seeds/$1" >"$1.log" 2>&1; then
        echo "$1: $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$1.log"), $(sed -n 's/.* \(cov: [0-9]*\) .*/\1/p' "$1.log" | tail -n 1)"
    else
        tail -n 30 "$1.log"
        return 1
    fi
}
afl() { # afl TARGET
    mkdir -p afl-out
    AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_AUTORESUME=1 \
        AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 ASAN_OPTIONS=abort_on_error=1:symbolize=0 \
        afl-fuzz -V "$FUZZ_SECONDS" -m none -t 5000 -i "seeds/$1" -o "afl-out/$1" \
        -- "./afl/fuzz_$1" >"$1.log" 2>&1 || {
        tail -n 30 "$1.log"
        return 1
    }
    faults=$(find "afl-out/$1" -path '*/crashes/id*' -o -path '*/hangs/id*' | wc -l)
    echo "$1: $(sed -n 's/^execs_done *: //p' "afl-out/$1/default/fuzzer_stats") runs, $faults faults"
    [ "$faults" = 0 ]
}
each=$((FUZZ_MUTATIONS / $#))
for t; do
    unpack "$corpus/$t.corpus" "seeds/$t"
    "$kind" "$t" || {
        echo "$t: FAILED"
        failed=1
    }
done
exit $failed
