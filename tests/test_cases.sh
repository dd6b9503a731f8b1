#!/bin/sh
# Configurations and what AMCT made of them: tests/cases/NNN-name holds
#   an input (none: AMCT's defaults), layers.json, args (options)
#   config.expected     what `quantc config` prints, AMCT's bytes
#   effective.expected  the same with --effective
#   stderr.expected     messages; without the others, `quantc check` refuses
. "$(dirname "$0")/lib.sh"
cases=$(cd "$(dirname "$0")/cases" && pwd)

prints() { # prints WANTED STATUS ARGUMENTS...
    want=$1
    status=$2
    shift 2
    "$QUANTC" "$@" >"$work/stdout" 2>"$work/stderr"
    got=$?
    [ "$got" = "$status" ] || {
        echo "exit status $got, expected $status"
        cat "$work/stderr"
        return 1
    }
    cmp "$want" "$work/stdout" || diff "$want" "$work/stdout"
    expected=stderr.expected
    [ -f "$expected" ] || expected=/dev/null
    diff "$expected" "$work/stderr" && cmp -s "$want" "$work/stdout"
}

for d in "$cases"/*/; do
    cd "$d" || exit 1
    name=$(basename "$d")
    input=$(ls | grep -E '^(quant|retrain)\.cfg$|^config\.json$|^record\.txt$')
    # shellcheck disable=SC2046
    set -- $input $(cat args)
    if [ -f config.expected ]; then
        ok "$name: config" prints config.expected 0 config "$@"
    fi
    if [ -f effective.expected ]; then
        ok "$name: effective" prints effective.expected 0 config "$@" --effective
    elif [ ! -f config.expected ]; then
        ok "$name: refused" prints /dev/null 1 check "$@"
    fi
done

if [ -f "$QC_SHARED/cases/run_cases.py" ] && has python3; then
    python3 "$QC_SHARED/cases/run_cases.py" --quantc "$QUANTC" >"$work/all" 2>&1
    close=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/all")
    grep -v "^$close" "$work/all"
    passed=$((passed + $(echo "${close:-0}" | sed 's/ passed.*//')))
    failed=$((failed + $(echo "${close:-, 1 failed}" | sed 's/.*, \([0-9]*\) failed/\1/')))
else
    skip 284 "all cases of the shared folder: no shared folder, or no python3"
fi
finish
