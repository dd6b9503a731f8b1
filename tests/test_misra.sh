#!/bin/sh
# The misra addon of cppcheck over the integer runtime, against the deviations
# of docs/misra.md: a rule, or a file under a rule with named files, that the
# table does not have is a failure.
. "$(dirname "$0")/lib.sh"

if ! has cppcheck; then
    skip 4 "no cppcheck"
    finish
fi
case $(cppcheck --version) in
"Cppcheck 2.10"*) ;;
*)
    skip 4 "docs/misra.md is for cppcheck 2.10, this is $(cppcheck --version)"
    finish
    ;;
esac
files=$(find runtime -name '*.c' ! -name '*_f32.c' ! -name '*ascend*' | sort)
cache=$BUILD/cppcheck
mkdir -p "$cache"

look() { # look FILE...: "RULE FILE" for each finding
    cppcheck --quiet --std=c99 --addon=misra --enable=style --suppress=missingInclude --cppcheck-build-dir="$cache" \
        -Iruntime -DQRT_OFFLOAD=1 -D__GNUC__=12 --template='{id} {file}:{line}' "$@" 2>"$work/raw" >/dev/null
    sed -n 's/^misra-c2012-\([0-9.]*\) \(runtime\/\)*/\1 /p' "$work/raw" | sort -u
}
# allowed RULE FILE
allowed() {
    row=$(awk -F'|' -v r="$1" '$2 ~ "^ *" r " *$" { print $3 }' docs/misra.md)
    [ -n "$row" ] || return 1
    case " $(echo "$row" | tr ',' ' ') " in
    *" any "* | *" $2 "*) return 0 ;;
    esac
    return 1
}
beyond() { # beyond FINDINGS: those that the table does not allow
    sed 's/:[0-9]*$//' "$1" | sort -u | while read -r rule file; do
        allowed "$rule" "$file" || echo "$rule $file"
    done
}

# shellcheck disable=SC2086
look $files >"$work/found"
beyond "$work/found" >"$work/beyond"
ok "the addon has run" sh -c 'grep -q "^15.5 " "$1"' - "$work/found"
nothing_beyond() {
    while read -r rule file; do
        grep "^$rule $file" "$work/found"
    done <"$work/beyond"
    [ ! -s "$work/beyond" ]
}
stale() { # rows of the table without a finding
    sed -n 's/^| \([0-9]*\.[0-9]*\) |.*/\1/p' docs/misra.md | while read -r rule; do
        grep -q "^$rule " "$work/found" || echo "$rule"
    done >"$work/stale"
    cat "$work/stale"
    [ ! -s "$work/stale" ]
}
ok "no row of the table without a finding" stale
ok "no deviation but those of docs/misra.md" nothing_beyond
# A goto must be seen, as must a named rule in a file that has not got it.
cat >"$work/bad.c" <<'END'
int f(int x);
int f(int x)
{
    unsigned v = 0x80000000;

    if (x == (int)v)
        goto end;
    x = 1;
end:
    return x;
}
END
look "$work/bad.c" | sed "s| .*/| |" >"$work/bad"
beyond "$work/bad" >"$work/bad-beyond"
ok "a new rule and a new file are seen" sh -c 'grep -q "^15.1 bad.c" "$1" && grep -q "^7.2 bad.c" "$1"' - "$work/bad-beyond"
finish
