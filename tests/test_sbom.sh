#!/bin/sh
# --sbom: an SPDX 2.3 document whose checksums are those of the files, whose
# relationships lead somewhere, and whose bytes depend on the inputs only.
. "$(dirname "$0")/lib.sh"

unset SOURCE_DATE_EPOCH
d=examples/digits
for f in quant.cfg model.onnx record.txt; do cp "$d/$f" "$work"; done
cd "$work" || exit 1
compile() { # compile DIR OPTIONS...
    _dir=$1
    shift
    "$QUANTC" compile quant.cfg --model model.onnx --record record.txt -o "$_dir" --sbom "$_dir/sbom.json" "$@"
}
# One line per file: name, SHA-1, SHA-256.
sums() {
    awk -F'"' '/"fileName"/ { name = $4 } /"checksumValue"/ { sum[name] = sum[name] " " $4 }
        END { for (n in sum) print n sum[n] }' "$1" | sort
}

ok "compile" compile a --weights --plan a/plan.json
ok "valid JSON" "$QUANTC" check --kind json-syntax a/sbom.json
if has python3; then
    ok "another reader takes it" python3 -c 'import json; json.load(open("a/sbom.json"))'
else
    skip 1 "no python3"
fi
ok "SPDX 2.3 of the right name" sh -c 'grep -q "\"spdxVersion\":\"SPDX-2.3\"" a/sbom.json && grep -q "\"name\":\"quant_tables\"" a/sbom.json'

# ---- files and sums ----
sums a/sbom.json >listed
ok "all outputs and inputs, and nothing else" sh -c '[ "$(cut -d" " -f1 listed | tr "\n" " ")" = \
    "./model.onnx ./plan.json ./quant.cfg ./quant_tables.c ./quant_tables.h ./quant_weights.c ./quant_weights.h ./record.txt " ]'
if has sha1sum && has sha256sum; then
    real() {
        while read -r name one two; do
            file=a/$name
            [ -e "$file" ] || file=$name
            [ "$(sha1sum <"$file" | cut -d' ' -f1)" = "$one" ] || return 1
            [ "$(sha256sum <"$file" | cut -d' ' -f1)" = "$two" ] || return 1
        done <listed
    }
    ok "every checksum is that of the file" real
else
    skip 1 "no sha1sum and sha256sum"
fi
ok "incbin: the binary is a file too" compile incbin --weights --weights-form incbin
ok "incbin: listed" grep -q '"./quant_weights.bin"' incbin/sbom.json

# ---- relationships ----
related() { grep -A1 "\"relationshipType\":\"$1\"" a/sbom.json | grep -c related; }
count() { [ "$(related "$1")" = "$2" ]; }
ok "every output is described" count DESCRIBES 5
ok "every output comes from every input" count GENERATED_FROM 15
ok "every output is built by quantc" count BUILD_TOOL_OF 5
ok "every output needs libquantrt" count DEPENDS_ON 5
ids() {
    grep -oE '"SPDXID":"[^"]*"' a/sbom.json | cut -d'"' -f4 | sort >ids
    grep -oE '"(spdxElementId|relatedSpdxElement)":"[^"]*"' a/sbom.json | cut -d'"' -f4 | sort -u >used
    [ -z "$(uniq -d ids)" ] && [ -z "$(comm -13 ids used)" ] && ! grep -vE '^SPDXRef-[A-Za-z0-9.-]+$' ids
}
ok "every name is unique, well formed, and there" ids

# ---- bytes ----
mkdir -p elsewhere/deep
cp quant.cfg model.onnx record.txt elsewhere/deep
again() (
    cd elsewhere/deep || exit 1
    TZ=Asia/Tokyo LC_ALL=de_DE.UTF-8 "$QUANTC" compile quant.cfg --model "$PWD/model.onnx" --record record.txt -o . \
        --weights --plan plan.json --sbom sbom.json
)
ok "in another folder, at another time" again
ok "the same bytes" cmp a/sbom.json elsewhere/deep/sbom.json
echo "# note" >>elsewhere/deep/quant.cfg
ok "after a change of an input" again
ok "the document has another name" sh -c '[ "$(grep documentNamespace "$0")" != "$(grep documentNamespace "$1")" ]' a/sbom.json elsewhere/deep/sbom.json
ok "other options" compile other --weights --plan other/plan.json --no-words
ok "the document has another name here too" sh -c '[ "$(grep documentNamespace "$0")" != "$(grep documentNamespace "$1")" ]' a/sbom.json other/sbom.json
ok "without a date it is 1970" grep -q '"created":"1970-01-01T00:00:00Z"' a/sbom.json
ok "SOURCE_DATE_EPOCH" env SOURCE_DATE_EPOCH=1700000000 "$QUANTC" compile quant.cfg --model model.onnx -o date --sbom date/sbom.json
ok "is the date" grep -q '"created":"2023-11-14T22:13:20Z"' date/sbom.json
for bad in "" yesterday -1 1e9 99999999999999999999 253402300800; do
    fails 2 "SOURCE_DATE_EPOCH '$bad'" env SOURCE_DATE_EPOCH="$bad" "$QUANTC" compile quant.cfg --model model.onnx -o bad --sbom bad/sbom.json
done
ok "then nothing is written" test ! -e bad

# ---- the rest ----
ok "image" "$QUANTC" image quant.cfg --model model.onnx -o q.img --sbom image.json
ok "image: listed" sh -c '[ "$(grep -c "\"./q.img\"" image.json)" = 1 ] && grep -q GENERATED_FROM image.json'
sed 's/search_step/search_stp/' quant.cfg >bad.cfg
fails 1 "a faulty input" "$QUANTC" compile bad.cfg --model model.onnx --sbom none.json
ok "leaves no SBOM" test ! -e none.json
odd=$(printf 'a"b\\c\td.cfg')
cp quant.cfg "$odd"
ok "an odd file name" "$QUANTC" compile "$odd" --model model.onnx -o odd --sbom odd.json
ok "is escaped" "$QUANTC" check --kind json-syntax odd.json
finish
