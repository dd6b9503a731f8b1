#!/bin/sh
# Runs test programs and scripts, as many at once as there are cores, shows
# their output in order and adds up their closing lines.
#   run.sh LOGDIR TEST...
# A cmocka program closes with its own lines; a script with
# "N passed, N failed, N skipped". The last line here is of that form too.
set -u

# run.sh --one LOGDIR TEST: what each of the processes below does.
if [ "$1" = --one ]; then
    name=$(basename "$3")
    begun=$(date +%s)
    case $3 in
    *.sh) sh "$3" >"$2/$name.log" 2>&1 </dev/null ;;
    *) "$3" >"$2/$name.log" 2>&1 </dev/null ;;
    esac
    echo $? >"$2/$name.status"
    echo $(($(date +%s) - begun)) >"$2/$name.seconds"
    exit 0
fi

logs=$1
shift
rm -rf "$logs"
mkdir -p "$logs"
jobs=$( (nproc || echo 1) 2>/dev/null)
printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh "$0" --one "$logs"

passed=0 failed=0 skipped=0
for t in "$@"; do
    name=$(basename "$t")
    log=$logs/$name.log
    status=$(cat "$logs/$name.status" 2>/dev/null || echo 1)
    echo "== $name ($(cat "$logs/$name.seconds" 2>/dev/null) s)"
    case $t in
    *.sh)
        cat "$log"
        close=$(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$')
        p=$(echo "$close" | sed -n 's/^\([0-9]*\) passed.*/\1/p')
        f=$(echo "$close" | sed -n 's/.* \([0-9]*\) failed.*/\1/p')
        s=$(echo "$close" | sed -n 's/.* \([0-9]*\) skipped.*/\1/p')
        ;;
    *)
        grep -vE '^\[ +(RUN|OK) ' "$log"
        p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
        f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
        s=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test(s).*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
        ;;
    esac
    # A program that died or a script that printed no closing line has failed.
    if [ "$status" != 0 ] && [ "${f:-0}" = 0 ]; then
        echo "$name: exit status $status"
        f=1
    elif [ -z "$p" ]; then
        echo "$name: no closing line"
        f=1
    fi
    passed=$((passed + ${p:-0}))
    failed=$((failed + ${f:-0}))
    skipped=$((skipped + ${s:-0}))
done
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
