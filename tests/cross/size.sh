#!/bin/sh
# shellcheck disable=SC2086 # flags are lists of words
# Bytes and stack of the integer runtime on Cortex-M4 and M0, built with -Os.
#   size.sh build DIR      builds libquantrt.a for both cores below DIR
#   size.sh functions DIR  bytes and stack of every function
#   size.sh sets DIR       lines "CORE SET BYTES": what programs link
#   size.sh stack DIR      the largest frame of each core: "CORE BYTES FUNCTION"
set -eu
what=$1
dir=$2
cores="cortex-m4 cortex-m0"
arm=arm-none-eabi

# Entries that a program of that kind calls.
small="qrt_quantize_fixed qrt_requantize_s8 qrt_dequantize_fixed"
ifmr="qrt_ifmr_init qrt_ifmr_add_any qrt_ifmr_merge qrt_ifmr_finish"
ulq="qrt_ulq_prepare qrt_ulq_forward_any qrt_ulq_backward_any qrt_ulq_gradients"

# linked CORE ENTRY...: bytes of an image with these, unused functions left out
linked() {
    core=$1
    shift
    entries=
    for e in "$@"; do
        entries="$entries -Wl,-u,$e"
    done
    printf 'void start(void);\nvoid start(void)\n{\n}\n' >"$dir/start.c"
    $arm-gcc -mthumb -mcpu=$core -Os -nostdlib -Wl,--gc-sections -Wl,-e,start $entries "$dir/start.c" \
        "$dir/$core/libquantrt.a" -lgcc -o "$dir/$core/set.elf"
    $arm-size "$dir/$core/set.elf" | awk 'NR == 2 { print $1 }'
}
# bytes CORE OBJECT NAME...: of functions
bytes() {
    $arm-nm -S "$dir/$1/obj/runtime/$2.o" >"$dir/nm"
    shift 2
    total=0
    for n in "$@"; do
        size=$(awk -v n="$n" '$4 == n || index($4, n ".") == 1 { print $2 }' "$dir/nm")
        total=$((total + 0x${size:-0}))
    done
    echo $total
}
sum() { # of the numbers given
    total=0
    for n in "$@"; do total=$((total + n)); done
    echo $total
}

case $what in
build)
    for core in $cores; do
        MAKEFLAGS='' ${MAKE:-make} -s "$dir/$core/libquantrt.a" TARGET_BUILD="$dir/$core" TARGET_CC=$arm-gcc \
            TARGET_CFLAGS="-Os -mthumb -mcpu=$core"
    done
    ;;
functions)
    printf '%-20s %-28s %8s %6s %8s %6s\n' "" "" M4 "" M0 "" \
        file function bytes stack bytes stack
    for core in $cores; do
        for o in "$dir/$core"/obj/runtime/*.o; do
            f=$(basename "$o" .o)
            case $f in *_f32) continue ;; esac
            $arm-nm -S "$o" | awk -v f="$f" -v c=$core '$3 ~ /[tT]/ { sub(/\..*/, "", $4); print "size", c, f, $4, $2 }'
            awk -v f="$f" -v c=$core '{ n = split($1, part, ":"); sub(/\..*/, "", part[n]); print "stack", c, f, part[n], $2 }' \
                "${o%.o}.su"
        done
    done | awk '
        function hex(s,    i, v) {
            for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
            return v
        }
        { key = $3 " " $4; if (!(key in seen)) { seen[key] = 1; order[++n] = key } }
        $1 == "size" { size[key, $2] += hex($5) }
        $1 == "stack" && $5 > stack[key, $2] { stack[key, $2] = $5 }
        END {
            for (i = 1; i <= n; i++) {
                split(order[i], p, " ")
                printf "%-20s %-28s %8d %6d %8d %6d\n", p[1], p[2], size[order[i], "cortex-m4"],
                    stack[order[i], "cortex-m4"], size[order[i], "cortex-m0"], stack[order[i], "cortex-m0"]
            }
        }'
    ;;
sets)
    for core in $cores; do
        echo "$core small $(linked $core $small)"
        echo "$core ifmr $(linked $core $ifmr)"
        echo "$core ulq $(linked $core $ulq)"
        echo "$core core $(linked $core $small qrt_arq_any $ifmr $ulq)"
        echo "$core selftest $(linked $core $small qrt_selftest)"
        echo "$core record $(linked $core qrt_record_format)"
        echo "$core image $(linked $core qrt_image_open qrt_image_find qrt_image_tables qrt_image_weights)"
        echo "$core kernels $(sum $(bytes $core requantize row) $(bytes $core quantize_bits row) \
            $(bytes $core ifmr_count qrt_ifmr_count_bits qrt_ifmr_count_s16) \
            $(bytes $core ifmr_walk qrt_ifmr_walk_to qrt_ifmr_above_in_bin) \
            $(bytes $core ifmr_levels qrt_ifmr_gain cross walk_side))"
        echo "$core data $($arm-size "$dir/$core/libquantrt.a" | awk 'NR > 1 { n += $2 + $3 } END { print n + 0 }')"
    done
    ;;
stack)
    for core in $cores; do
        for su in "$dir/$core"/obj/runtime/*.su; do
            case $su in *_f32.su) continue ;; esac
            awk -v c=$core '{ n = split($1, part, ":"); print c, $2, part[n] }' "$su"
        done | sort -k2,2nr | head -n 1
    done
    ;;
esac
