#!/bin/sh
# docs/compat.md against gen/keys.def, and against what the two modes do.
#   test_compat.sh --write    renews the tables of docs/compat.md
top=$(cd "$(dirname "$0")/.." && pwd)
doc=$top/docs/compat.md
tables() { awk -f "$top/tests/compat.awk" "$top/gen/keys.def"; }

if [ "${1:-}" = --write ]; then
    head=$(sed '/^### Checks whose severity differs/,$d' "$doc")
    { echo "$head"; echo; tables; } >"$doc"
    exit
fi
. "$top/tests/lib.sh"

tables >"$work/want"
sed -n '/^### Checks whose severity differs/,$p' "$doc" >"$work/have"
ok "the tables of docs/compat.md are those of gen/keys.def" \
    diff "$work/have" "$work/want"

# Checks that may decide differently.
awk '/^### All checks/ { exit } /^\| `/ { gsub(/`/, ""); print $2 }' \
    "$work/want" | sort -u >"$work/differ"

# modes DIR ARGS...: both verdicts; a difference must have a name of the table.
modes() {
    cd "$1" || return 1
    shift
    "$QUANTC" check "$@" >/dev/null 2>"$work/plain"
    plain=$?
    "$QUANTC" check "$@" --compat amct >/dev/null 2>"$work/amct"
    amct=$?
    case $plain$amct in
    00 | 11) return 0 ;;
    01 | 10) ;;
    *) echo "exit status $plain and $amct"; return 1 ;;
    esac
    for m in plain amct; do
        sed -n 's/^.*: \(fatal \)*error: .*\[\([a-z0-9.-]*\)\]$/\2/p' \
            "$work/$m" | sort -u >"$work/keys.$m"
    done
    # Errors of one mode only.
    sort "$work/keys.plain" "$work/keys.amct" | uniq -u >"$work/odd"
    [ -s "$work/odd" ] || return 1
    comm -23 "$work/odd" "$work/differ" >"$work/unexplained"
    [ ! -s "$work/unexplained" ] || {
        cat "$work/unexplained"
        return 1
    }
}

both() { # both DIR INPUT KIND DIALECT
    ok "$(basename "$1"): both modes" modes "$1" "$2" --kind "$3" \
        --layers layers.json --dialect "$4"
}


for d in "$top/tests"/cases/*/; do
    input=$(cd "$d" && ls | grep -E '^(quant|retrain)\.cfg$|^config\.json$|^record\.txt$')
    [ -n "$input" ] || continue
    # shellcheck disable=SC2046
    set -- $(cat "$d/args")
    both "${d%/}" "$input" "$2" "$6"
done
if [ -d "$QC_SHARED/cases/config" ] && has python3; then
    python3 - "$QC_SHARED/cases/config" >"$work/list" <<'P'
import json, os, sys
kinds = {"ptq-cfg": "calib", "retrain-cfg": "retrain", "record": "record",
         "ptq-json": "json-calib", "retrain-json": "json-retrain"}
for name in sorted(os.listdir(sys.argv[1])):
    d = os.path.join(sys.argv[1], name)
    if not os.path.exists(os.path.join(d, "expect.json")):
        continue
    e = json.load(open(os.path.join(d, "expect.json"), encoding="utf-8"))
    for f in ("quant.cfg", "retrain.cfg", "config.json", "record.txt"):
        if os.path.exists(os.path.join(d, f)):
            print(d, f, kinds[e["form"]], e["dialect"])
P
    while read -r d input kind dialect; do
        both "$d" "$input" "$kind" "$dialect"
    done <"$work/list"
else
    skip 282 "all cases in both modes: no shared folder, or no python3"
fi
finish
