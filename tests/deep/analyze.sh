#!/bin/sh
# gcc -fanalyzer, clang-tidy and cppcheck over gen/, runtime/ and the examples;
# cppcheck also over the tests, where the two others do not know that an
# assertion of cmocka ends a test. No finding is the expected result: .clang-tidy says which
# checks are not asked, analyze.txt which findings are none, and why. A line
# of analyze.txt that nothing needs any more is a finding too.
#   analyze.sh BUILD-DIR [FILE...]      all of them, or these
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
log=$dir/logs
rm -rf "$log"
mkdir -p "$log"
jobs=$( (nproc || echo 1) 2>/dev/null)
make -s -j"$jobs" BUILD="$dir" CFLAGS=-O1 all || exit 1
digits=examples/digits
"$dir/quantc" compile $digits/quant.cfg --model $digits/model.onnx --record $digits/record.txt \
    -o "$dir/tables" --weights --selftest || exit 1

defines="-DQC_HAVE_CJSON=1 -DQRT_OFFLOAD=1"
inc="-I. -Igen -Igrammar -Iruntime -I$dir -I$dir/gram -I$dir/tables -Iexamples/common
    -I$digits -Itests -Itests/acl"
own=$(ls gen/*.c runtime/*.c examples/common/io.c examples/common/io_stdio.c \
    $digits/net.c $digits/float_net.c $digits/float_check.c \
    examples/offload/npu_backend.c "$dir"/tables/*.c)
tests=$(ls tests/test_*.c tests/acl/*.c tests/exhaustive/*.c tests/faults/*.c \
    tests/fuzz/*.c tests/limits/*.c)
some=0
if [ $# -gt 0 ]; then
    own="$*" tests='' some=1
fi
failed=0

# each PATTERN-OF-FILES COMMAND...: so many at once as there are cores; what they
# say goes to standard output, without the place of this tree.
each() {
    files=$1
    shift
    # shellcheck disable=SC2086
    printf '%s\n' $files | xargs -P "$jobs" -n 4 sh -c '
        out=$(mktemp "$1/part.XXXXXX")
        shift
        tool=$1
        shift
        sh -c "$tool" tool "$@" >"$out" 2>&1' each "$log" "$@"
    sed "s|$PWD/||g" "$log"/part.*
    rm -f "$log"/part.*
}

# judge TOOL: reads findings on standard input, prints those that are ones
judge() {
    awk -F' *[|] *' -v tool="$1" -v some=$some '
        FNR == NR {
            if ($1 == tool) { file[++n] = $2; check[n] = $3; text[n] = $4 }
            next
        }
        {
            for (i = 1; i <= n; i++)
                if (index($0, file[i] ":") == 1 && index($0, "[" check[i]) && index($0, text[i])) {
                    used[i] = 1
                    next
                }
            print "    " $0
            found++
        }
        END {
            for (i = 1; i <= n; i++)
                if (!used[i] && !some) {
                    print "    analyze.txt: not found any more: " file[i] ", " check[i]
                    found++
                }
            printf "%s: %d findings, %d explained in analyze.txt\n", tool, found, n
            exit found > 0
        }' tests/deep/analyze.txt - || failed=1
}

if command -v gcc >/dev/null; then
    each "$own" "for f; do
        gcc -std=gnu99 -O1 -fanalyzer -Wno-analyzer-too-complex $(echo $defines $inc) -S -o /dev/null \$f; done" >"$log/gcc.txt"
    grep -E ': (warning|error|fatal error): ' "$log/gcc.txt" | sort -u | judge gcc
else
    echo "gcc: not installed"
fi
if command -v clang-tidy >/dev/null; then
    each "$own" "clang-tidy --quiet \"\$@\" -- -std=gnu99 $(echo $defines $inc)" >"$log/clang-tidy.txt"
    grep -E ': (warning|error): ' "$log/clang-tidy.txt" | sort -u | judge clang-tidy
else
    echo "clang-tidy: not installed"
fi
if command -v cppcheck >/dev/null; then
    # shellcheck disable=SC2086
    cppcheck --quiet -j "$jobs" --std=c99 --enable=warning,performance,portability \
        --suppress='*:*/tables/*' --suppress=unmatchedSuppression \
        --template='{file}:{line}:{column}: warning: {message} [{id}]' \
        $defines $inc $own $tests 2>&1 | sed "s|$PWD/||g" >"$log/cppcheck.txt"
    grep ': warning: ' "$log/cppcheck.txt" | sort -u | judge cppcheck
else
    echo "cppcheck: not installed"
fi
exit $failed
