#!/bin/sh
# Faulty files: the messages about tests/bad/KIND-NAME.* must equal
# KIND-NAME.expected byte for byte, and end with status 1. What a .json is, is
# told from its content.
#   test_bad.sh --write NAME...    makes the expected files anew: then read them
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root/tests/bad" || exit 1

messages() { # messages FILE: what quantc says about it
    case $1 in
    *.json) "$QUANTC" check --max-errors 0 "$1" ;;
    *) "$QUANTC" check --kind "${1%%-*}" --max-errors 0 "$1" ;;
    esac
}

if [ "${1:-}" = --write ]; then
    shift
    : "${QUANTC:=$root/build/quantc}"
    for f in "$@"; do
        messages "$f" 2>"${f%.*}.expected"
    done
    exit
fi
. "$root/tests/lib.sh"

says_what_is_expected() {
    echo "${1%.*}.expected" >>"$work/run"
    messages "$1" 2>"$work/said"
    [ $? = 1 ] && diff "${1%.*}.expected" "$work/said"
}
for f in calib-*.cfg retrain-*.cfg record-*.txt layers-*.layers cfg-*.json json-*.json; do
    [ -e "$f" ] && ok "messages about bad/$f" says_what_is_expected "$f"
done

for f in *.expected; do
    ok "bad/$f has a runner" grep -qx "$f" "$work/run"
done

# Every check of characters, grammar, schema and values has a file here.
sed -n 's/^QC_KEY([A-Z0-9_]*, *"\(\(lex\|syn\|sch\|sem\|json\|cfg\)\.[a-z0-9-]*\)".*/\1/p' \
    "$root/gen/keys.def" | sort -u >"$work/keys"
cat ./*.expected | sed -n 's/.*\[\([a-z]*\.[a-z0-9-]*\)\]$/\1/p' |
    sort -u >"$work/seen"
# Against a model only, or too large to be kept here: tested elsewhere.
cat >"$work/elsewhere" <<'EOF'
sem.balance-factor
sem.incomplete-record
sem.scale-suspicious
sem.unsupported-balancer
EOF
comm -23 "$work/keys" "$work/seen" | comm -23 - "$work/elsewhere" >"$work/lack"
ok "every key has a case" diff /dev/null "$work/lack"
finish
