#!/bin/sh
# Correct text-format files: tests/good/KIND-NAME.* and their values, NAME.json.
# protoc, when it is installed, judges the same files by our .proto files: what
# it decodes from its own encoding must have the same values; and what we refuse
# although it is fine for protoc must be on purpose.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
good=$root/tests/good

values() { # values FILE KIND
    "$QUANTC" dump --json --kind "$2" "$1" 2>"$work/said"
}
has_values() { # has_values FILE KIND WANTED
    values "$1" "$2" >"$work/values" && diff "$3" "$work/values" &&
        cat "$work/said" && ! grep -q ' error: ' "$work/said"
}
for f in "$good"/*.cfg "$good"/*.txt; do
    name=$(basename "$f")
    ok "values of good/$name" has_values "$f" "${name%%-*}" "${f%.*}.json"
done

# The kind is told from the content.
for kind in calib retrain record; do
    case $kind in
    calib) text='common_config { }' ;;
    retrain) text='retrain_data_quant_config { }' ;;
    record) text='record { key: "a" }' ;;
    esac
    echo "$text" >"$work/file"
    "$QUANTC" dump --json "$work/file" >"$work/told" 2>/dev/null
    values "$work/file" $kind >"$work/values"
    ok "a $kind file is recognized" cmp "$work/told" "$work/values"
done
echo 'batch_num: 1' >"$work/retrain.cfg"
ok "a file that may be either goes by its name" \
    sh -c "'$QUANTC' check --dialect mindspore '$work/retrain.cfg' 2>&1 |
        grep -q 'AMCTRetrainConfig has no field'"

# ---- where files come from, and how large they may be ----

: >"$work/large.cfg"
dd if=/dev/null of="$work/large.cfg" bs=1048576 seek=65 2>/dev/null
fails 1 "a file over 64 MiB is refused" "$QUANTC" check "$work/large.cfg"
ok "... by its key" sh -c \
    "'$QUANTC' check '$work/large.cfg' 2>&1 | grep -q 'lim\.file'"
rm "$work/large.cfg"
fails 3 "a file that is not there" "$QUANTC" check "$work/none.cfg"
fails 3 "a folder is no file" "$QUANTC" check "$work"
ok "a pipe is read like a file" sh -c \
    "echo 'batch_num: 2' | '$QUANTC' dump --json --kind calib /dev/stdin |
        grep -q '\"batch_num\":2'"

# ---- protoc ----

message() {
    case $1 in
    calib) echo qc.calib.AMCTConfig calibration_config.proto ;;
    retrain) echo qc.retrain.AMCTRetrainConfig retrain_config.proto ;;
    record) echo qc.record.ScaleOffsetRecord scale_offset_record.proto ;;
    esac
}
protoc_agrees() { # protoc_agrees FILE KIND
    # shellcheck disable=SC2046
    set -- "$1" "$2" $(message "$2")
    (cd "$root/proto" && protoc --encode="$3" -I. "$4") <"$1" >"$work/wire" &&
        (cd "$root/proto" && protoc --decode="$3" -I. "$4") <"$work/wire" \
            >"$work/decoded" &&
        values "$1" "$2" >"$work/a" && values "$work/decoded" "$2" >"$work/b" &&
        diff "$work/a" "$work/b"
}
# protoc takes it, we do not: every line a decision of docs/guide.md.
cat >"$work/stricter" <<'EOF'
skip_layers: "\u4e2d"
skip_layers: "\?"
skip_layers: "\400"
do_fusion: 0x1
do_fusion: 01
common_config { ifmr_quantize { dst_type: 01 } }
common_config { ifmr_quantize { search_step: 0.7F } }
common_config { ifmr_quantize { search_step: - 0.7 } }
override_layer_configs { calibration_config { } }
EOF
stricter() { # stricter LINE
    printf '%s\n' "$1" >"$work/line"
    (cd "$root/proto" &&
        protoc --encode=qc.calib.AMCTConfig -I. calibration_config.proto) \
        <"$work/line" >/dev/null 2>&1 || return 1
    ! "$QUANTC" check --syntax-only --kind calib "$work/line" 2>/dev/null
}
if has protoc; then
    for f in "$good"/*.cfg "$good"/*.txt; do
        name=$(basename "$f")
        ok "protoc agrees on good/$name" protoc_agrees "$f" "${name%%-*}"
    done
    while read -r line; do
        ok "stricter than protoc: $line" stricter "$line"
    done <"$work/stricter"
else
    skip 1 "protoc is not installed: values not judged by it"
fi

# ---- the large suites ----

suites=$QC_SHARED/suites/run_suites.py
all_pass() { python3 "$suites" --suite textproto --quiet "$@"; }
if [ -f "$suites" ] && has python3; then
    ok "suite textproto, schema" all_pass --reject-rc 1 --check-pos \
        --check-key --cmd "$QUANTC check --syntax-only --kind={kind} {file}"
    ok "suite textproto, values" all_pass --mode full --reject-rc 1 \
        --check-pos --check-key --cmd "$QUANTC check --kind={kind} {file}"
    ok "suite textproto, dump" all_pass \
        --dump-cmd "$QUANTC dump --json --kind={kind} {file}"
    ok "suite textproto, merged as AMCT merges" all_pass --merge-duplicates \
        --match 'dup-|oneof-' \
        --dump-cmd "$QUANTC dump --json --compat amct --kind={kind} {file}"
else
    skip 4 "no $suites, or no python3: the large suite was not run"
fi
finish
