#!/bin/sh
# Runs what the documents promise: every ```sh block, in order, in a folder of
# its own per document, where examples, runtime and build are as in the sources
# after make, and samples/ holds layer inputs; what it prints has the lines of
# the ```text output block that follows; every ```c block compiles; the README's
# sample table is what its quant.cfg gives; man pages say what --help says;
# versions are those of the headers; every link leads somewhere.
. "$(dirname "$0")/lib.sh"

top=$PWD

# blocks FILE WORD DIR: writes the fenced blocks with this info word as DIR/N
blocks() {
    mkdir -p "$3"
    awk -v word="$2" -v dir="$3" '
    !inside && $0 == "```" word { inside = 1; n++; next }
    inside && $0 == "```" { inside = 0; next }
    inside { print > (dir "/" n) }' "$1"
}

# samples DIR: an .npy file of float32 for each layer of the digits example
samples() {
    mkdir -p "$1"
    for layer in conv1:1,1,8,8:64 dw:1,16,8,8:1024 pw:1,16,4,4:256 fc:1,384:384; do
        shape=${layer#*:} n=${layer##*:}
        {
            printf '\223NUMPY\001\000v\000'
            printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (${shape%:*}), }"
            awk -v n="$n" 'BEGIN { for (i = 0; i < n; i += 4) print "" }' |
                while read -r _; do printf '\000\000\200\077\000\000\000\100\000\000\100\077\000\000\000\000'; done
        } >"$1/${layer%%:*}.npy"
    done
}
# Four folders of samples that differ.
data=$work/data
samples "$data/samples"
digit=200
for to in samples1 samples2 shards/0 shards/1; do
    mkdir -p "$data/$to"
    cp "$data"/samples/*.npy "$data/$to"
    digit=$((digit + 10))
    printf "\\000\\000\\$digit\\100" | dd of="$data/$to/fc.npy" bs=1 seek=128 conv=notrunc 2>/dev/null
done
# tree DIR: what a reader who sits in the top folder sees
tree() {
    mkdir -p "$1/build"
    cp -r "$data/." "$1"
    for part in examples runtime gen grammar proto Makefile; do ln -sfn "$top/$part" "$1/$part"; done
    for part in "$QUANTC" "$BUILD"/libquantrt*.a; do ln -sfn "$part" "$1/build/$(basename "$part")"; done
}

for doc in README.md docs/*.md docs/zh/*.md examples/README.md examples/*/README.md; do
    [ -f "$doc" ] || continue
    d=$work/$(echo "$doc" | tr '/' '_')
    mkdir -p "$d"
    tree "$d/run"
    blocks "$doc" sh "$d/sh"
    blocks "$doc" c "$d/c"
    # Output N belongs to the commands before it: block N.
    mkdir -p "$d/out"
    awk -v dir="$d/out" '$0 == "```sh" { n++ } $0 == "```text output" { inside = 1; next }
        $0 == "```" { inside = 0 } inside { print > (dir "/" n) }' "$doc"
    for block in $(find "$d/sh" -type f | sort -V); do
        n=$(basename "$block")
        ok "$doc: commands of block $n" sh -c 'cd "$1" && PATH="$2:$PATH" sh -eu "$3" >"$4" 2>&1 || { cat "$4"; exit 1; }' - \
            "$d/run" "$(dirname "$QUANTC")" "$block" "$d/printed"
        [ ! -e "$d/out/$n" ] || ok "$doc: output of block $n" sh -c '[ -s "$1" ] && ! grep -vxFf "$2" "$1"' - "$d/out/$n" "$d/printed"
    done
    # C blocks may use the digits example's tables.
    [ -d "$work/tables" ] || "$QUANTC" compile examples/digits/quant.cfg --model examples/digits/model.onnx \
        --record examples/digits/record.txt -o "$work/tables" --weights --selftest >/dev/null 2>&1
    for block in $(find "$d/c" -type f | sort -V); do
        ok "$doc: C block $(basename "$block") compiles" "$CC" -std=c99 -Wall -Wextra -DQRT_OFFLOAD=1 -Iruntime \
            -Iexamples/common -I"$work/tables" -x c -fsyntax-only "$block"
    done
    # Links to files of the tree.
    # shellcheck disable=SC2013
    for link in $(sed -n 's/.*](\([^)#:]*\)[)#].*/\1/p' "$doc"); do
        ok "$doc: link $link" test -e "$(dirname "$doc")/$link"
    done
done

# The sample at the top of the README.
mkdir -p "$work/readme"
blocks README.md protobuf "$work/readme/cfg"
blocks README.md "c excerpt" "$work/readme/excerpt"
cp "$work/readme/cfg/1" "$work/readme/quant.cfg"
ok "README: the sample compiles" sh -c 'cd "$1" && "$2" compile quant.cfg --model "$3/model.onnx" --record "$3/record.txt"' - \
    "$work/readme" "$QUANTC" "$top/examples/digits"
ok "README: its table is the real one" sh -c 'grep -vxFf "$1/quant_tables.c" "$1/excerpt/1" | grep . && exit 1; [ -s "$1/excerpt/1" ]' - \
    "$work/readme"

# ---- which documents there are ----

for doc in docs/*.md examples/README.md docs/zh/README.md; do
    [ -e "$doc" ] || continue
    ok "README.md names $doc" grep -qF "]($doc)" README.md
done
for example in examples/*/; do
    ok "examples/README.md names $(basename "$example")" grep -qE "\]\($(basename "$example")(/README.md)?\)" examples/README.md
done

# ---- versions ----

# in_header FILE MACRO: its value
in_header() { sed -n "s/^#define $2  *\"*\([0-9.]*\)u*\"*.*/\1/p" "$1"; }
# Rows of the table of versions: | what | 1 | `MACRO` in `file` | ... |
sed -n 's/^| [^|]* | \([0-9.]*\) | `\([A-Z_]*\)` in `\([a-z0-9_./]*\)` |.*/\1 \2 \3/p' docs/CHANGELOG.md >"$work/versions"
ok "CHANGELOG: five versions" [ "$(wc -l <"$work/versions")" = 5 ]
while read -r number macro header; do
    ok "CHANGELOG: $macro" [ "$(in_header "$header" "$macro")" = "$number" ]
done <"$work/versions"
newest=$(sed -n 's/^## \([0-9.]*\)$/\1/p' docs/CHANGELOG.md | head -n 1)
ok "CHANGELOG: its newest entry is this version" [ "quantc $newest" = "$("$QUANTC" --version)" ]
ok "images.md: the format's version" grep -qx "## Format, version $(in_header runtime/qrt_image.h QRT_IMAGE_VERSION)" docs/images.md
ok "generated headers: the tables' version" grep -q "^#if QRT_TABLES_VERSION != $(in_header runtime/qrt_tables.h QRT_TABLES_VERSION)\$" "$work/tables/quant_tables.h"

# ---- man pages ----

# plain FILE: a man page without its fonts and escapes
plain() { sed 's/\\f[BIRP]//g; s/\\-/-/g; s/\\e/\\/g' "$1"; }
# section FILE NAME: the lines of one section
section() {
    plain "$1" | awk -v name="$2" '/^\.SH / { inside = $0 == ".SH " name; next } inside'
}
# words FILE NAME: a section as running text
words() {
    section "$1" "$2" | sed 's/^\.[BI][BRI]* //' | tr '\n' ' ' | sed 's/  */ /g; s/ $//'
}
# offered COMMAND: its options and their arguments, as --help lists them
offered() {
    "$QUANTC" "$1" --help | sed -n 's/^  \(-[^ ]*\( [A-Za-z][^ ]*\)\{0,1\}\)  .*/\1/p
        s/^  \(-W KEY, -E KEY, -Wno-KEY\) .*/\1/p; s/^  \(--partial S.qobs\|--resume A.qobs\|--activation-offset B\) .*/\1/p' | sort -u
}
# described FILE: the same as a man page lists them
described() { section "$1" OPTIONS | awk '/^\.TP/ { getline; print }' | sort; }

man=$work/man
tree "$man"

version=$("$QUANTC" --version)
"$QUANTC" --help | sed -n 's/^  \([a-z]*\)  *\([a-z].*\)/\1 \2/p' >"$work/commands"
section docs/quantc.1 COMMANDS | awk '/^\.BR quantc-[a-z]* \(1\)$/ { sub(/quantc-/, "", $2); c = $2; getline t; print c, t }' >"$work/commands.1"
ok "quantc.1: all commands, in the order of --help" sh -c 'sed "s/ .*//" "$0/commands" >"$0/a"; sed "s/ .*//" "$0/commands.1" >"$0/b"; [ -s "$0/a" ] && diff "$0/a" "$0/b"' "$work"
ok "quantc.1: what they do" sh -c 'tr A-Z a-z <"$0/commands.1" | sed "s/\.$//" >"$0/b"; tr A-Z a-z <"$0/commands" | diff - "$0/b"' "$work"
described docs/quantc.1 >"$work/common.1"
ok "quantc.1: it has options" test -s "$work/common.1"

for command in $(cut -d' ' -f1 "$work/commands"); do
    page=docs/quantc-$command.1
    ok "$command has a man page" test -s "$page" || continue
    ok "$command --help fits a screen" sh -c '[ "$("$0" "$1" --help | wc -l)" -le 40 ]' "$QUANTC" "$command"
    offered "$command" >"$work/offered"
    described "$page" >"$work/described"
    ok "$page: options and arguments are those of --help" diff "$work/offered" "$work/described"
    ok "$command takes the options of quantc.1" sh -c '[ -z "$(comm -23 "$0/common.1" "$0/offered")" ]' "$work"
    ok "$page: the usage of --help" [ "$(words "$page" SYNOPSIS)" = "$("$QUANTC" "$command" --help | head -n 1)" ]
    ok "$page: the purpose of --help" [ "$(words "$page" NAME)" = "quantc-$command - $("$QUANTC" "$command" --help | sed -n '2s/^ *//p')" ]
    ok "$page: has examples" grep -q '^\.EX$' "$page"
done
for page in docs/*.1; do
    ok "$page: the version" grep -q "^\.TH .* \"$version\" " "$page"
    for status in 0 1 2 3 4; do
        ok "$page: exit status $status" grep -q "^\.B $status\$" "$page"
    done
    for see in $(section "$page" "SEE ALSO" | sed -n 's/^\.BR \([a-z-]*\) .*/\1/p'); do
        ok "$page: see $see" test -s "docs/$see.1"
    done
    plain "$page" | awk '/^\.EX$/ { inside = 1; next } /^\.EE$/ { inside = 0 } inside' >"$man/examples.sh"
    ok "$page: the examples run" sh -c 'cd "$0" && PATH="$1:$PATH" sh -eu examples.sh' "$man" "$(dirname "$QUANTC")"
    if has mandoc; then
        # The version stands in the place of a date.
        ok "$page: mandoc" sh -c '! mandoc -T lint -W style "$0" | grep -v "missing date, using \"\""' "$page"
    else
        skip 1 "no mandoc: $page"
    fi
    if has groff; then
        ok "$page: groff" sh -c '[ -z "$(groff -man -ww -z "$0" 2>&1)" ]' "$page"
    else
        skip 1 "no groff: $page"
    fi
done
finish
