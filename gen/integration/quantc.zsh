#compdef quantc
# zsh completion for quantc: commands and options come from --help itself.
local -a words_of
if (( CURRENT == 2 )); then
    words_of=(${(f)"$(quantc --help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
    _describe command words_of
elif [[ $PREFIX == -* ]]; then
    words_of=(${(f)"$(quantc $words[2] --help 2>/dev/null | sed -n 's/^  \(--*[a-z-]*\).*/\1/p')"})
    compadd -a words_of
else
    _files
fi
