# What the shell tests share: counting, temporary folder, skipping.
# shellcheck shell=sh
set -u
passed=0
failed=0
skipped=0
: "${BUILD:=$PWD/build}"
: "${QUANTC:=$BUILD/quantc}"
: "${CC:=cc}"
: "${QC_SHARED:=../shared}"
work=$BUILD/tests/$(basename "$0" .sh).dir
rm -rf "$work"
mkdir -p "$work"
log=$work/.log # what the last command said

has() { command -v "$1" >/dev/null 2>&1; }
skip() { # skip N WHY
    skipped=$((skipped + $1))
    echo "skipped: $2"
}
# ok NAME COMMAND...: passes when the command succeeds
ok() {
    _name=$1
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $_name"
        head -n 20 "$log" | sed 's/^/    /'
    fi
}
# fails STATUS NAME COMMAND...: passes when the command ends with STATUS
fails() {
    _want=$1
    _name=$2
    shift 2
    "$@" >"$log" 2>&1
    got=$?
    if [ "$got" = "$_want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $_name: exit status $got, expected $_want"
        head -n 20 "$log" | sed 's/^/    /'
    fi
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}
