# bash completion for quantc: commands and options come from --help itself.
_quantc()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    case $before in
    --dialect) COMPREPLY=($(compgen -W "mindspore pytorch onnx caffe tensorflow" -- "$word")); return ;;
    --kind) COMPREPLY=($(compgen -W "calib retrain record layers options json-calib json-retrain json-syntax" -- "$word")); return ;;
    --compat) COMPREPLY=($(compgen -W "amct" -- "$word")); return ;;
    --weights-form) COMPREPLY=($(compgen -W "decimal string incbin" -- "$word")); return ;;
    --layout) COMPREPLY=($(compgen -W "onnx cmsis" -- "$word")); return ;;
    --activation-offset) COMPREPLY=($(compgen -W "true false" -- "$word")); return ;;
    --diag) COMPREPLY=($(compgen -W "text json sarif" -- "$word")); return ;;
    esac
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "$(quantc --help | sed -n 's/^  \([a-z]*\) .*/\1/p') --help --version" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$(quantc "$command" --help 2>/dev/null | grep -oE '^  --?[a-z-]+')" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _quantc quantc
