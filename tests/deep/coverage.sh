#!/bin/sh
# Which lines of gen/, grammar/ and runtime/ the tests reach: builds everything
# with gcov, runs the suite, prints per cent by file and folder. Each line that
# no test reaches goes to BUILD/coverage/missed.txt. The exit status says
# whether gen/ and runtime/ reach 95 % and no file was overlooked.
#   coverage.sh BUILD TEST...
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
mkdir -p "$1/coverage/bin"
dir=$(cd "$1/coverage" && pwd)
shift
QC_SHARED=$(cd "${QC_SHARED:-../shared}" 2>/dev/null && pwd) || {
    QC_SHARED=/nowhere
    echo "without ../shared: what only its models reach is counted as missed"
}

# The scripts build from these folders too, or link the archives, some of them
# as a user would, with cc: these compilers know what each needs. Without
# optimisation, which would make one line of several returns.
for c in gcc cc; do
    cat >"$dir/bin/$c" <<END
#!/bin/sh
case " \$* " in
*-fsanitize=thread*) exec $(command -v gcc) "\$@" -lgcov ;;
*runtime/*.c\ * | *gen/*.c\ * | *gram/*.c\ *) exec $(command -v gcc) --coverage "\$@" -O0 ;;
*) exec $(command -v gcc) "\$@" -lgcov ;;
esac
END
    chmod +x "$dir/bin/$c"
done
PATH=$dir/bin:$PATH

# For every make below, so that none builds the objects again.
export BUILD="$dir" QUANTC="$dir/quantc" CC="$dir/bin/gcc" QC_SHARED PATH
export CFLAGS="-O0 -g" F32_CFLAGS="-O0 -ffp-contract=off" LDFLAGS=
export TARGET_CC="$CC" TARGET_CFLAGS="$CFLAGS" MAKEFLAGS=
make -s BUILD="$dir" all tests

# Left out: what measures instructions, bytes and names, which gcov changes;
# what is about other machines, documents or projects and runs nothing that is
# counted here; and the mutations, which assert no result.
tests=
for t; do
    case $(basename "$t") in
    *_budget.sh | *_cross.sh | test_misra.sh | test_offload_absent.sh) ;;
    test_symbols.sh | test_f32_targets.sh | test_fuzz.sh) ;;
    test_integration.sh) ;;
    test_repro.sh | test_zh.sh) ;;
    *.sh) tests="$tests $t" ;;
    *) tests="$tests $dir/tests/$(basename "$t" .c)" ;;
    esac
done
find "$dir" -name '*.gcda' -exec rm -f {} +
# shellcheck disable=SC2086
sh tests/run.sh "$dir/logs" $tests >"$dir/tests.log" 2>&1 || grep '^FAILED\|^\[  FAILED' "$dir/tests.log" || true
tail -n 1 "$dir/tests.log"

# A file counts once, however many programs it is compiled into.
find "$dir" \( -name '*.gcda' -o -path "$dir/obj/*.gcno" \) -exec gcov -t -r -s "$top" {} + 2>"$dir/gcov.log" |
    LC_ALL=C awk -v missed="$dir/missed.txt" -v sources="$(echo gen/*.c runtime/*.c grammar/*.[ly])" '
    # count:line:text
    {
        split($0, part, ":")
        count = part[1]
        gsub(/ /, "", count)
        line = part[2] + 0
    }
    line == 0 {
        if (part[3] == "Source") {
            file = part[4]
            ours = file ~ /^(gen|grammar|runtime)\//
        }
        next
    }
    ours && count != "-" {
        key = file SUBSEP line
        if (!(key in text)) {
            text[key] = substr($0, index($0, part[2] ":") + length(part[2]) + 1)
            if (line > last[file])
                last[file] = line
        }
        if (count !~ /^[#=]/)
            hit[key] = 1
    }
    function row(what, n, all) {
        printf "%-32s %6.2f %% of %5d lines\n", what, 100 * n / all, all
    }
    END {
        n = split(sources, source, " ")
        for (f in last)
            if (f ~ /\.h$/)
                source[++n] = f
        printf "" >missed
        for (i = 1; i <= n; i++) {
            f = source[i]
            folder = f
            sub(/\/.*/, "", folder)
            lines = reached = 0
            for (l = 1; l <= last[f]; l++)
                if ((f, l) in text) {
                    lines++
                    if ((f, l) in hit)
                        reached++
                    else
                        print f ":" l ":" text[f, l] >missed
                }
            if (!lines) {
                if (f !~ /schema_tables/)
                    none = none " " f
                continue
            }
            row(f, reached, lines)
            total[folder] += lines
            got[folder] += reached
        }
        print ""
        for (folder in total) {
            row(folder "/", got[folder], total[folder])
            if (folder != "grammar" && got[folder] < 0.95 * total[folder])
                low = low " " folder "/"
        }
        if (none)
            print "no line to count in:" none
        if (low) {
            print "below 95 %:" low
            exit 1
        }
    }'
echo "the lines: $dir/missed.txt"
