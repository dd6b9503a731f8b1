#!/bin/sh
# The Chinese documents say what the English ones say, as far as a program can
# tell: headings, code, tables, options, config words, numbers and links agree.
. "$(dirname "$0")/lib.sh"

# both ENGLISH CHINESE
both() {
    awk -f tests/skeleton.awk "$1" >"$work/en"
    awk -f tests/skeleton.awk "$2" >"$work/zh"
    [ "$(wc -l <"$work/en")" -gt 50 ] && diff -U 3 "$work/en" "$work/zh"
}
ok "README.md" both README.md docs/zh/README.md
for doc in guide compat; do
    ok "$doc.md" both docs/$doc.md docs/zh/$doc.md
done

# A link goes to the Chinese page where there is one.
chinese() {
    for page in docs/zh/*.md; do
        # shellcheck disable=SC2013
        for link in $(sed 's/](/\n](/g' "$page" | sed -n 's/^](\([^)#:]*\)[)#].*/\1/p'); do
            [ -e "docs/zh/$link" ] || { echo "$page: $link leads nowhere"; return 1; }
            name=$(basename "$link")
            case $link in
            ../examples/* | ../../examples/*) ;;
            ../*) [ ! -e "docs/zh/$name" ] || grep -qF "[English]($link)" "$page" || { echo "$page: $link"; return 1; } ;;
            esac
        done
    done
}
ok "links lead to Chinese pages" chinese

# Every command and option that a Chinese page names exists.
for c in $("$QUANTC" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    echo "$c"
    "$QUANTC" "$c" --help | grep -oE '^  --?[a-z-]+' | tr -d ' '
done | sort -u >"$work/known"
real() {
    grep -hoE '`[^`]*`' docs/zh/*.md | tr '` ' '\n\n' | grep -E '^--[a-z]' | sed 's/=.*//' | sort -u >"$work/options"
    grep -hoE 'quantc [a-z]+' docs/zh/*.md | sed 's/quantc //' | sort -u >"$work/commands"
    [ -s "$work/options" ] && [ -s "$work/commands" ] &&
        ! grep -vxFf "$work/known" "$work/options" "$work/commands"
}
ok "commands and options exist" real

# Terms of AMCT's manual; and no half-width punctuation between Chinese words.
for term in 训练后量化 量化感知训练 量化因子 校准集 非对称量化 对称量化 层名 位宽 权重; do
    ok "term $term" grep -rqF "$term" docs/zh
done
half=$(printf '[\344-\351][\200-\277][\200-\277][,;:?!]( |$)')
ok "punctuation is Chinese" sh -c '! LC_ALL=C grep -nE "$0" docs/zh/*.md' "$half"
finish
