#!/bin/sh
# The .proto files and their compiler: protoc agrees that they are valid, the
# tables and docs/formats.md follow from them, faults are reported by line.
. "$(dirname "$0")/lib.sh"

schemac=$BUILD/schemac

# ---- our own files ----

if has protoc; then
    for f in proto/*.proto; do
        ok "protoc: $f" protoc -I proto --descriptor_set_out="$work/set" "$f"
    done
else
    skip 7 "no protoc"
fi

ok "tables" "$schemac" --tables "$work" proto/*.proto
for cc in gcc clang "$CC"; do
    has "$cc" || continue
    ok "tables compile: $cc" "$cc" -std=c99 -pedantic -Wall -Wextra -Werror \
        -Igen -c "$work/schema_tables.c" -o "$work/tables.o"
done

ok "formats" "$schemac" --docs "$work/formats.md" proto/*.proto
ok "docs/formats.md is up to date (make formats)" \
    cmp "$work/formats.md" docs/formats.md

# ---- faults ----

# fault MESSAGE LINE...: the message schemac has for a file of these lines
fault() {
    text=$1
    shift
    printf '%s\n' "$@" >"$work/bad.proto"
    fails 1 "refused: $text" "$schemac" --docs "$work/bad.md" \
        proto/options.proto "$work/bad.proto"
    sed "s|^$work/||" "$log" >"$work/got"
    ok "says: $text" grep -qxF "bad.proto:$text" "$work/got"
    [ -e "$work/bad.md" ] && echo "output of a bad file" && failed=$((failed + 1))
}

head='syntax = "proto2"; package x;'
in_m() { # in_m MESSAGE LINE: a fault on line 4, inside a message
    fault "$1" "$head" '// A message.' 'message M {' "$2" '}'
}

fault '1:1: error: expected '"'syntax'"', found '"'message'" 'message M {}'
fault '1:10: error: the syntax must be "proto2"' 'syntax = "proto3";'
in_m "4:22: error: expected '=', found an integer" 'optional int32 field 1;'
fault "5:10: error: type 'Foo' is not known" "$head" '// A message.' \
    'message M {' '// A field.' 'optional Foo f = 1;' '}'
field() { # field MESSAGE LINE: a fault on line 5, a field with its comment
    fault "$1" "$head" '// A message.' 'message M {' '// A field.' "$2" '}'
}
field "5:36: error: 'x' is no range" 'optional int32 f = 1 [(qc.range) = "x"];'
field "5:24: error: option 'qc.rang' is not known" \
    'optional int32 f = 1 [(qc.rang) = "x"];'
field "5:39: error: dialect 'torch' is not known" \
    'optional int32 f = 1 [(qc.dialects) = "onnx torch"];'
field '5:20: error: 0 cannot be a field number' 'optional int32 f = 0;'
field '5:20: error: 19000 cannot be a field number' 'optional int32 f = 19000;'
field '5:23: error: this field has no default' \
    'repeated int32 f = 1 [default = 1];'
in_m '4:16: error: a comment that says what this is must stand above it' \
    'optional int32 f = 1;'
fault '7:16: error: field number 1 is taken by f' "$head" '// A message.' \
    'message M {' '// A field.' 'optional int32 f = 1;' '// A field.' \
    'optional int32 g = 1;' '}'
fault '5:9: error: '"'M'"' is the C name of another type too' "$head" \
    '// A message.' 'message M {}' '// A message.' 'message M {}'
fault "9:29: error: enum E has no value 'C'" "$head" '// An enum.' 'enum E {' \
    '// A value.' 'A = 0;}' '// A message.' 'message M {' '// A field.' \
    'optional E e = 1 [default = C];}'
fault '5:12: error: number 0 is taken by A' "$head" '// An enum.' 'enum E {' \
    '// A value.' 'A = 0; B = 0; }'

fault '4:6: error: enum E has no value' "$head" '// An enum.' '// Of none.' 'enum E { }'
fault '5:5: error: enum values must fit 32 bits' "$head" '// An enum.' 'enum E {' \
    '// A value.' 'A = 2147483648; }'
fault '7:1: error: value A is given twice' "$head" '// An enum.' 'enum E {' \
    '// A value.' 'A = 0;' '// A value.' 'A = 1; }'
fault '7:16: error: field f is given twice' "$head" '// A message.' \
    'message M {' '// A field.' 'optional int32 f = 1;' '// A field.' \
    'optional int32 f = 2;' '}'
field "5:36: error: escape '\\q' is not known here" 'optional int32 f = 1 [(qc.range) = "[0,\q"];'

# What is written in more than one way: strings in pieces, escapes, names from
# the root, negative numbers.
printf '%s\n' "$head" 'import "options.proto";' '// A message.' 'message M {' '// A "field" \ with signs.' \
    "optional int32 f = 1 [default = -5, (qc.range) = \"[-7,\" ' 7]', deprecated = true];" \
    '// The same type, by its full name.' 'repeated .x.M m = 2;' \
    '// A number.' 'optional float g = 3 [default = -0.5];' \
    '// Endless.' 'optional float h = 4 [default = -inf];' \
    '// Signs.' 'optional string s = 5 [default = "a\tb\"\\\n"];' '}' >"$work/forms.proto"
mkdir -p "$work/forms"
ok "forms: tables" "$schemac" --tables "$work/forms" proto/options.proto "$work/forms.proto"
ok "forms: the tables compile" "$CC" -std=c99 -pedantic -Wall -Wextra -Werror -Igen \
    -c "$work/forms/schema_tables.c" -o "$work/forms/tables.o"
ok "forms: the default is whole" grep -qF '.default_text = "a\011b\"\\\012"' "$work/forms/schema_tables.c"
ok "forms: documents" "$schemac" --docs "$work/forms.md" proto/options.proto "$work/forms.proto"
ok "forms: a range of two pieces" grep -qF '[-7, 7]' "$work/forms.md"
if has protoc; then
    ok "forms: protoc agrees" protoc -I proto -I "$work" --descriptor_set_out="$work/set" "$work/forms.proto"
else
    skip 1 "no protoc"
fi

# Several faults, one run.
printf '%s\n' "$head" 'message M {' 'optional int32 a 1;' \
    'optional int32 b = 2;' 'optional int32 = 3;' '}' >"$work/two.proto"
fails 1 "two faults" "$schemac" --docs "$work/bad.md" "$work/two.proto"
two=$(grep -c error "$log")
ok "both are reported" test "$two" = 2

fails 2 "usage" "$schemac" --docs
fails 3 "missing file" "$schemac" --docs "$work/bad.md" "$work/nowhere.proto"
fails 3 "unwritable output" "$schemac" --docs "$work/no/folder.md" \
    proto/options.proto

finish
