#!/bin/sh
# Projects outside the tree against an installed quantc, one per build system.
. "$(dirname "$0")/lib.sh"

top=$PWD
inst=$work/inst
ok "install" make -s install PREFIX="$inst" BUILD="$BUILD" CC="$CC"
ok "install into DESTDIR" make -s install DESTDIR="$work/dest" PREFIX=/usr BUILD="$BUILD" CC="$CC"
ok "DESTDIR does not get into files" sh -c '! grep -rl "$0" "$0/usr/share" "$0/usr/lib/cmake"' "$work/dest"
ok "the man page is there" test -s "$work/dest/usr/share/man/man1/quantc.1"

project() { # project NAME: a copy outside the tree
    mkdir -p "$work/p"
    cp -r examples/integration/main.c "examples/integration/$1" "$work/p"
}
want="conv1 calibrated"

# ---- make ----
project make
mk() { make -s -C "$work/p/make" QUANTC_DATA="$inst/share/quantc" DIGITS="$top/examples/digits" CC="$CC" "$@"; }
ok "make: builds, two jobs" mk -j2
ok "make: runs" sh -c '"$0/build/firmware" | grep -q "^$1"' "$work/p/make" "$want"
ok "make: two prefixes in one image" sh -c 'nm "$0/build/firmware" | grep -q quant_layers && test -s "$0/build/second_tables.h"' "$work/p/make"
ok "make: a second run does nothing" sh -c 'test -z "$(make -C "$0" QUANTC_DATA="$1" DIGITS="$2" CC="$3" | grep -v "^make")"' \
    "$work/p/make" "$inst/share/quantc" "$top/examples/digits" "$CC"
cp -r examples/digits "$work/p/digits"
mk2() { make -s -C "$work/p/make" QUANTC_DATA="$inst/share/quantc" DIGITS="$work/p/digits" CC="$CC" "$@"; }
ok "make: other inputs" mk2
sleep 1
ok "make: a comment changes nothing" sh -c 'echo "# note" >>"$0/digits/quant.cfg"' "$work/p"
before=$(cat "$work/p/make/build/quant_tables.c" | cksum)
ok "make: after a change" mk2
ok "make: the table is new" sh -c '[ "$(cksum <"$0")" != "$1" ]' "$work/p/make/build/quant_tables.c" "$before"

# ---- CMake ----
if has cmake; then
    project cmake
    cm() { cmake -S "$work/p/cmake" -B "$1" -DCMAKE_PREFIX_PATH="$inst" -DDIGITS="$top/examples/digits" "$2" "$3" && cmake --build "$1" -j2; }
    ok "cmake: builds" cm "$work/p/cmake-build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=Release
    ok "cmake: runs" sh -c '"$0/firmware" | grep -q "^$1"' "$work/p/cmake-build" "$want"
    if has ninja; then
        ok "cmake with ninja: builds" cm "$work/p/ninja-build" -G Ninja
        ok "cmake with ninja: runs" sh -c '"$0/firmware" | grep -q "^$1"' "$work/p/ninja-build" "$want"
    else
        skip 2 "no ninja"
    fi
    if has arm-none-eabi-gcc; then
        # A bare image has no printf: the tables and the runtime are what is built.
        mkdir -p "$work/p/arm"
        sed 's/add_executable(firmware .*/add_library(firmware STATIC empty.c)/' "$work/p/cmake/CMakeLists.txt" >"$work/p/arm/CMakeLists.txt"
        echo 'int quantc_empty; ' >"$work/p/arm/empty.c"
        arm() { cmake -S "$work/p/arm" -B "$work/p/arm-build" -DCMAKE_PREFIX_PATH="$inst" -DDIGITS="$top/examples/digits" \
            -DCMAKE_TOOLCHAIN_FILE="$work/p/cmake/cortex-m4.cmake" -DCMAKE_FIND_ROOT_PATH="$inst" && cmake --build "$work/p/arm-build" --target firmware quantc_runtime; }
        ok "cmake for arm-none-eabi: builds" arm
        ok "cmake for arm-none-eabi: an Arm runtime" sh -c 'arm-none-eabi-objdump -f "$0"/libquantc_runtime.a | grep -q arm' "$work/p/arm-build"
    else
        skip 2 "no arm-none-eabi-gcc"
    fi
else
    skip 6 "no cmake"
fi

# ---- pkg-config ----
if has pkg-config; then
    export PKG_CONFIG_PATH="$inst/share/pkgconfig"
    pc() {
        "$(pkg-config --variable=quantc quantc)" compile examples/digits/quant.cfg --model examples/digits/model.onnx \
            --record examples/digits/record.txt -o "$work/pc" &&
            "$CC" -std=c99 -I"$work/pc" examples/integration/main.c "$work/pc/quant_tables.c" $(pkg-config --cflags --libs quantc) -o "$work/pc/firmware" &&
            "$work/pc/firmware" | grep -q "^$want"
    }
    ok "pkg-config: builds and runs" pc
else
    skip 1 "no pkg-config"
fi

# ---- Meson ----
if has meson && has ninja && has pkg-config; then
    project meson
    cp -r examples/digits "$work/p/../digits" 2>/dev/null
    cp -r examples/digits "$work/digits" 2>/dev/null
    me() { meson setup "$work/p/meson-build" "$work/p/meson" && meson compile -C "$work/p/meson-build"; }
    ok "meson: builds" me
    ok "meson: runs" sh -c '"$0/firmware" | grep -q "^$1"' "$work/p/meson-build" "$want"
else
    skip 2 "no meson and ninja"
fi

# ---- what the SDK files name is installed ----
ok "sources of the runtime compile on their own" sh -c 'for f in "$0"/share/quantc/runtime/*.c; do case $f in *_f32.c) continue ;; esac
    "$1" -std=c99 -DQRT_OFFLOAD=0 -ffreestanding -fsyntax-only "$f" || exit 1; done' "$inst" "$CC"
ok "zephyr, esp-idf: folders exist" sh -c 'test -d "$0/share/quantc/runtime" && test -f "$0/include/quantc/qrt.h"' "$inst"
if has python3; then
    ok "platformio: valid JSON" python3 -c 'import json; json.load(open("examples/integration/platformio/library.json"))'
else
    skip 1 "no python3"
fi
if has g++ ; then
    ok "arduino: the header is C++" sh -c 'echo "#include \"quantrt.h\"" | g++ -x c++ -std=c++11 -fsyntax-only -I"$0/include/quantc" -Iexamples/integration/arduino -' "$inst"
else
    skip 1 "no g++"
fi

# ---- snippets of docs/integration.md are lines of the examples ----
awk '/^```(make|cmake|meson)$/ { inside = 1; next } /^```$/ { inside = 0 } inside && NF' docs/integration.md >"$work/snippets"
cat examples/integration/make/Makefile examples/integration/cmake/CMakeLists.txt examples/integration/meson/meson.build >"$work/examples"
ok "snippets of docs/integration.md are what is built" sh -c '[ -s "$0/snippets" ] && ! grep -vxFf "$0/examples" "$0/snippets"' "$work"

# ---- completions ----
ok "bash completion loads" sh -c 'bash -n "$0/share/bash-completion/completions/quantc"' "$inst"
if has bash; then
    ok "bash completion: commands" bash -c 'PATH="$1/bin:$PATH"; . "$1/share/bash-completion/completions/quantc"; COMP_WORDS=(quantc comp); COMP_CWORD=1; _quantc; [ "${COMPREPLY[*]}" = compile ]' - "$inst"
    ok "bash completion: options" bash -c 'PATH="$1/bin:$PATH"; . "$1/share/bash-completion/completions/quantc"; COMP_WORDS=(quantc compile --rec); COMP_CWORD=2; _quantc; [ "${COMPREPLY[*]}" = --record ]' - "$inst"
    # Words that completion offers are words that quantc takes, and all of them.
    words() { # words OPTION
        bash -c 'PATH="$1/bin:$PATH"; . "$1/share/bash-completion/completions/quantc"; COMP_WORDS=(quantc compile "$2" ""); COMP_CWORD=3; _quantc; echo "${COMPREPLY[*]}"' - "$inst" "$1"
    }
    for option in --dialect --kind --compat --diag --weights-form --layout --activation-offset; do
        taken=$("$QUANTC" compile "$option" - x 2>&1 | sed -n "s/.* is not one of //p" | tr -d ,)
        ok "bash completion: words of $option" [ "$(words $option)" = "$taken" ]
    done
else
    skip 9 "no bash"
fi
for shell in zsh:zsh fish:fish; do
    if has "${shell%:*}"; then
        ok "${shell%:*} completion: syntax" "${shell%:*}" -n gen/integration/quantc."${shell#*:}"
    else
        skip 1 "no ${shell%:*}"
    fi
done
ok "all man pages are there" sh -c '[ "$(ls "$0"/usr/share/man/man1 | grep -c "^quantc.*\.1$")" = "$(ls docs/*.1 | wc -l)" ]' "$work/dest"
finish
