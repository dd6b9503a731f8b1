#!/bin/sh
# quantc.options, and where the tables lie: rule and exactness per layer, scales
# of 19 bits with the host's multipliers to match, --align and --section.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
digits=$root/examples/digits
cd "$work" || exit 1

cat >quantc.options <<'END'
# device arithmetic
common { rule: CANN }
layer { name: "conv1"  exactness: BOUNDED  hardware_scale: S19_TRUNCATE }
layer { name: "fc"  rule: AMCT  hardware_scale: S19_ROUND }
END

tables() { # tables DIR OPTION...
    dir=$1
    shift
    "$QUANTC" compile "$digits/quant.cfg" --model "$digits/model.onnx" --record "$digits/record.txt" -o "$dir" "$@"
}
program() { # program DIR SOURCE FLAGS...
    dir=$1
    source=$2
    shift 2
    # shellcheck disable=SC2086
    $CC -std=c99 -Wall -Wextra -Werror -I"$root/runtime" -I"$dir" "$@" "$root/tests/device/$source.c" "$dir"/quant_tables.c \
        "$BUILD/libquantrt.a" -o "$dir/$source"
}
has_lines() { # has_lines FILE: standard input's lines all stand in it
    while IFS= read -r line; do
        grep -qxF "$line" "$1" || {
            echo "missing: $line"
            return 1
        }
    done
}

ok "compiles with options" tables with --options quantc.options --plan with/plan.json --weights --selftest
ok "and without" tables without --plan without/plan.json --weights
ok "rows" program with print_rows
rows() { with/print_rows >with/rows && printf 'conv1 3 1\ndw 3 0\npw 3 0\nfc 1 0\n' | diff - with/rows; }
ok "rule and exactness per layer" rows
ok "beside the text that says so" has_lines with/quant_tables.c <<'END'
/* "conv1": rule CANN  quantc.options:2; exactness BOUNDED  quantc.options:3; hardware_scale S19_TRUNCATE  quantc.options:3 */
/* "dw": rule CANN  quantc.options:2; exactness BITEXACT  default; hardware_scale BINARY32  default */
/* "fc": rule AMCT  quantc.options:4; exactness BITEXACT  default; hardware_scale S19_ROUND  quantc.options:4 */
END
ok "the file is among the inputs" grep -q '^ \*  *options quantc.options (crc32 [0-9a-f]*)$' with/quant_tables.c
ok "and in the depfile" grep -q 'quantc.options' with/quant_tables.d
plan() { # the member's lines in plan.json, in a row
    tr -d '\n\t ' <with/plan.json | grep -qF "$1"
}
ok "plan.json: who decided the rule" plan '"rule":{"text":"CANN","level":"common_config","at":"quantc.options:2"}'
ok "plan.json: who decided the scale" plan '"hardware_scale":{"text":"S19_TRUNCATE","level":"layer","at":"quantc.options:3"}'
ok "plan.json: without the file nothing of it" sh -c '! grep -qE "hardware_scale|exactness" without/plan.json'
ok "the hash covers the file" sh -c '[ "$(grep HASH with/quant_tables.h)" != "$(grep HASH without/quant_tables.h)" ]'

# Host and device agree on what an accumulator is worth.
ok "scales: 19 bits where asked for" program with check_scales
ok "words, multipliers and the hardware's product agree" with/check_scales truncated whole whole rounded
ok "scales: all bits by default" program without check_scales
ok "and there they agree with AscendDequant" without/check_scales whole whole whole whole
fails 1 "the check can fail" without/check_scales truncated whole whole whole
ok "biases are AMCT's either way" cmp with/quant_weights.c without/quant_weights.c

explained() { # explained LAYER: lines of its device part follow
    "$QUANTC" explain "$digits/quant.cfg" "$1" --model "$digits/model.onnx" --options quantc.options >explained && has_lines explained
}
ok "explain says where they come from" explained fc <<'END'
  device: quantc.options
    rule                AMCT      quantc.options:4:27
                                  over CANN: quantc.options:2:16, common
    exactness           BITEXACT  default
    hardware_scale      S19_ROUND quantc.options:4:49
END
ok "image takes them" "$QUANTC" image "$digits/quant.cfg" --model "$digits/model.onnx" --record "$digits/record.txt" \
    --options quantc.options -o with/image.bin
ok "check takes them" "$QUANTC" check "$digits/quant.cfg" --model "$digits/model.onnx" --options quantc.options
ok "check of the file alone" "$QUANTC" check quantc.options
ok "dump" sh -c '"$0" dump --json quantc.options | grep -q "\"hardware_scale\": *\"S19_ROUND\""' "$QUANTC"

refused() { # refused NAME FILE-TEXT: standard input is the exact message
    printf '%b' "$2" >bad.options
    cat >expected
    "$QUANTC" check "$digits/quant.cfg" --model "$digits/model.onnx" --options bad.options 2>said
    ok "$1: status" [ $? = 1 ]
    ok "$1: message" diff expected said
}
refused "unknown layer" 'layer { name: "conv2" rule: CANN }\n' <<'END'
bad.options:1:15: error: the model has no layer 'conv2' [res.unknown-layer]
    1 | layer { name: "conv2" rule: CANN }
      |               ^~~~~~~
      = help: did you mean 'conv1'?
quantc: bad.options: 1 error
END
refused "a layer twice" 'layer { name: "dw" rule: CANN }\nlayer { name: "dw" exactness: ANY }\n' <<'END'
bad.options:2:15: error: a second entry for layer 'dw' [sem.duplicate-layer]
    2 | layer { name: "dw" exactness: ANY }
      |               ^~~~
bad.options:1:15: note: first given here
    1 | layer { name: "dw" rule: CANN }
      |               ^~~~
quantc: bad.options: 1 error
END
refused "unknown word" 'common { rule: ASCEND }\n' <<'END'
bad.options:1:16: error: 'ASCEND' is not a value of 'rule' [sch.enum-unknown]
    1 | common { rule: ASCEND }
      |                ^~~~~~
      = help: values: FIXED (0), AMCT (1), MODULE (2), CANN (3), FIXED_MODULE (4)
quantc: bad.options: 1 error
END
refused "no name" 'layer { rule: CANN }\n' <<'END'
bad.options:1:1: error: LayerChoice needs the field 'name' [sch.missing-required]
    1 | layer { rule: CANN }
      | ^~~~~
      = help: name (string): its name
quantc: bad.options: 1 error
END
refused "unknown field" 'common { rules: CANN }\n' <<'END'
bad.options:1:10: error: DeviceChoice has no field 'rules' [sch.unknown-field]
    1 | common { rules: CANN }
      |          ^~~~~
      = help: did you mean 'rule'?
quantc: bad.options: 1 error
END

# ---- --align and --section ----

ok "placed" tables placed --align 64 --section .npu --weights --selftest
ok "every object is aligned" program placed print_places placed/quant_weights.c
ok "by 64 bytes" placed/print_places 64
ok "not by chance" sh -c '! placed/print_places 4096'
compiles() { # compiles COMPILER FLAGS...
    "$@" -Wall -Wextra -pedantic -Werror -I"$root/runtime" -Iplaced -c placed/quant_tables.c -o placed/t.o &&
        "$@" -Wall -Wextra -pedantic -Werror -Iplaced -c placed/quant_weights.c -o placed/w.o
}
for c in gcc clang arm-none-eabi-gcc; do
    if has $c; then
        ok "$c takes it" compiles $c -std=c99
    else
        skip 1 "no $c"
    fi
done
for c in g++ clang++; do
    if has $c && printf 'int x;' | $c -x c++ -std=c++17 -c - -o /dev/null 2>/dev/null; then
        ok "$c takes it" compiles $c -x c++ -std=c++17
    else
        skip 1 "no $c"
    fi
done
in_sections() { # in_sections OBJECT: no table lies elsewhere
    "${CC%% *}" -std=c99 -I"$root/runtime" -Iplaced -c placed/quant_tables.c -o placed/t.o &&
        objdump -t placed/t.o | awk '$0 ~ / O / && $0 !~ / \.npu(\.ptr)?\t/ { print; bad = 1 } / O / { n++ } END { exit bad || n < 20 }'
}
ok "all tables lie in the sections" in_sections
# Addresses are filled in by the loader: not in the section of plain numbers.
pic() {
    $CC -fPIC -std=c99 -I"$root/runtime" -Iplaced -c placed/quant_tables.c -o placed/pic.o &&
        objdump -h placed/pic.o | awk '$2 == ".npu" { getline; bad = /RELOC/; n++ } $2 == ".npu.ptr" { getline; p += /RELOC/ } END { exit bad || !n || !p }'
}
ok "no pointer among the numbers" pic
ok "declarations say where too" sh -c '[ "$(cat placed/*.h | grep -c "^extern const")" = 0 ] && [ "$(cat placed/*.h | grep -c "^QUANT_PLACED.* extern const")" -gt 5 ]'
ok "other compilers see nothing of it" "$CC" -std=c99 -U__GNUC__ -fsyntax-only -I"$root/runtime" -Iplaced placed/quant_tables.c
incbin() {
    tables incbin --section .npu --align 32 --weights --weights-form incbin &&
        grep -q '^    .section .npu, "a"$' incbin/quant_weights.S && grep -q '^    .balign 32$' incbin/quant_weights.S
}
ok "weights for the assembler too" incbin
ok "section alone" tables section --section .npu --weights
ok "weights stay aligned" grep -q '^QUANT_PLACED ALIGNED(4) const int8_t quant_weight_CONV1' section/quant_weights.c
for bad in "--align 7" "--align 24" "--align 4" "--align 8192" "--align -8" "--align 8x" "--section a\"b" "--section ;"; do
    # shellcheck disable=SC2086
    fails 2 "refused: $bad" tables nothing $bad
done
ok "an empty section is refused" sh -c '"$1" compile "$2" --section "" 2>/dev/null; [ $? = 2 ]' - "$QUANTC" "$digits/quant.cfg"
finish
