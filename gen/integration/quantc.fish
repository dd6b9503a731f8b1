# fish completion for quantc: commands and options come from --help itself.
complete -c quantc -n __fish_use_subcommand -f -a "(quantc --help | string match -rg '^  ([a-z]+ .*)' | string replace -r ' +' \t)"
complete -c quantc -n 'not __fish_use_subcommand' -a "(quantc (commandline -opc)[2] --help 2>/dev/null | string match -rg '^  (--?[a-z-]+)')"
