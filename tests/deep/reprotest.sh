#!/bin/sh
# Debian's reprotest: builds quantc, the libraries and everything the examples
# make of their inputs twice - another folder, time, time zone, locale, umask,
# home, PATH, host name, kernel, number of processors, order of files in
# folders - and compares all bytes.
#   reprotest.sh BUILD-DIR
set -eu
cd "$(dirname "$0")/../.."
command -v reprotest >/dev/null || {
    echo "reprotest is not installed: make deps-deep"
    exit 1
}
mkdir -p "$1"
dir=$(cd "$1" && pwd)
rm -rf "$dir/source"
mkdir "$dir/source"
tar cf - Makefile gen runtime grammar proto examples .ci | tar xf - -C "$dir/source"

cat >"$dir/source/make_all.sh" <<'END'
set -e
unset BUILD QUANTC
make -s all
d=examples/digits
mkdir artifacts
cp build/quantc build/libquantrt*.a build/schema_tables.c artifacts
q=build/quantc
$q compile $d/quant.cfg --model $d/model.onnx --record $d/record.txt -o artifacts/ptq \
    --weights --selftest --plan artifacts/plan.json --sbom artifacts/sbom.json
$q compile $d/config.json --model $d/model.onnx -o artifacts/qat
$q compile examples/mindspore-sample/quant.cfg --layers examples/mindspore-sample/model.layers -o artifacts/sample
$q image $d/quant.cfg --model $d/model.onnx --record $d/record.txt -o artifacts/quant.img
$q config $d/quant.cfg --model $d/model.onnx >artifacts/config.json
$q explain $d/quant.cfg --model $d/model.onnx >artifacts/explain
tar cf artifacts.tar --sort=name --mtime=@0 --owner=0 --group=0 --mode=0 artifacts
END

# Another user needs a second account; the rest is varied where the system
# lets us.
vary=+all,-user_group
if [ "$(id -u)" != 0 ]; then
    vary=$vary,-domain_host
fi
[ -w /dev/fuse ] && command -v disorderfs >/dev/null || vary=$vary,-fileordering
command -v faketime >/dev/null || vary=$vary,-time
echo "reprotest: $vary"
reprotest --no-diffoscope --variations="$vary" -s "$dir/source" \
    'sh make_all.sh' artifacts.tar >"$dir/log" 2>&1 && status=0 || status=$?
tail -n 3 "$dir/log"
exit $status
