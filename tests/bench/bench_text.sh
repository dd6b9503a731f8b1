#!/bin/sh
# Builds and runs bench_text for a finished build; then python's reader of the
# same file, where protoc and the module are installed.
#   bench_text.sh CC BUILD
set -eu
cc=$1
build=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$build/bench
mkdir -p "$work/python"
"$cc" -std=c99 -O2 "$top/tests/bench/bench_text.c" -o "$work/bench_text"
"$work/bench_text" "$build/quantc" "$top/proto" "$work" | tee "$work/text.out"

# Debian's modules belong to its own interpreter.
python=/usr/bin/python3
if ! "$python" -c 'import google.protobuf' 2>/dev/null ||
    ! protoc -I"$top/proto" --python_out="$work/python" \
        "$top/proto/calibration_config.proto" "$top/proto/options.proto" 2>/dev/null; then
    echo "skipped: no python3-protobuf or protoc"
    exit 0
fi
if theirs=$("$python" "$top/tests/bench/bench_text.py" "$work/python" \
    "$work/overrides-10000.cfg"); then
    ours=$(awk '/10,000 overrides/ { print $5 }' "$work/text.out")
    echo "$ours $theirs" | awk '{
        printf "python text_format, 10,000       %6.1f ms, %.1f times as long (at least 25)\n", $2, $2 / $1 }'
fi
