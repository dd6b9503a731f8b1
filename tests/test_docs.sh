#!/bin/sh
# Runs what the documents promise: every ```sh block, in order, in a folder of
# its own per document; every ```c block compiles; every ```make block parses;
# the README's sample table is what its quant.cfg gives; every option that
# --help lists stands in the man page; every link leads somewhere.
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

for doc in README.md docs/*.md docs/zh/*.md examples/*/README.md; do
    [ -f "$doc" ] || continue
    d=$work/$(echo "$doc" | tr '/' '_')
    mkdir -p "$d/run"
    ln -sfn "$top/examples" "$d/run/examples"
    blocks "$doc" sh "$d/sh"
    blocks "$doc" c "$d/c"
    for block in $(find "$d/sh" -type f | sort -t/ -k2 -V); do
        ok "$doc: commands of block $(basename "$block")" sh -c 'cd "$1" && PATH="$2:$PATH" sh -eu "$3"' - \
            "$d/run" "$(dirname "$QUANTC")" "$block"
    done
    # C blocks may use the digits example's tables.
    [ -d "$work/tables" ] || "$QUANTC" compile examples/digits/quant.cfg --model examples/digits/model.onnx \
        --record examples/digits/record.txt -o "$work/tables" --weights >/dev/null 2>&1
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

# Options: --help, the man page and the parser agree.
for command in $("$QUANTC" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    ok "man page: $command" grep -q "quantc $command" docs/quantc.1
    "$QUANTC" "$command" --help | grep -oE '^  --?[a-z-]+' | tr -d ' ' >>"$work/options"
    ok "$command --help fits a screen" sh -c '[ "$("$0" "$1" --help | wc -l)" -le 40 ]' "$QUANTC" "$command"
done
for option in $(sort -u "$work/options"); do
    ok "man page: $option" grep -qF -- "$(echo "$option" | sed 's/-/\\-/g')" docs/quantc.1
done
finish
