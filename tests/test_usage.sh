#!/bin/sh
# What is wrong with a command line, with the usage and status 2; and what
# options with more than one form do.
. "$(dirname "$0")/lib.sh"

d=$PWD/examples/digits
cd "$work" || exit 1
cp "$d/quant.cfg" "$d/model.onnx" "$d/record.txt" .
# wrong TEXT ARGUMENT...: status 2; TEXT and the usage are all that is said
wrong() {
    text=$1
    shift
    "$QUANTC" "$@" >out 2>err
    status=$?
    cat err
    [ $status = 2 ] && [ ! -s out ] && [ "$(grep -vc '^usage: ' err)" -le 1 ] && grep -qF -- "$text" err
}
# says STATUS TEXT ARGUMENT...: TEXT is among the messages
says() {
    want=$1
    text=$2
    shift 2
    "$QUANTC" "$@" >out 2>err
    status=$?
    cat out err
    [ $status = "$want" ] && cat out err | grep -qF -- "$text"
}

ok "no command" wrong 'usage: quantc COMMAND [OPTIONS] FILES'
ok "image without an output" wrong 'quantc image: -o FILE is missing' image quant.cfg --model model.onnx
ok "calibrate without a model" wrong 'quantc calibrate: --model M.onnx is missing' calibrate quant.cfg
ok "check: two files and a model" wrong 'quantc check: one file at a time against a model; a record is given with --record' \
    check quant.cfg quant.cfg --model model.onnx
ok "a flag with a value" wrong "no value belongs to '--weights'" compile quant.cfg --weights=yes
ok "an option without its value" wrong "'--model'" compile quant.cfg --model
ok "-W without a name" wrong "a check's name must follow '-W'" check quant.cfg -W
ok "-W with a name that is none" wrong "no check is called 'sem.nothing'" check quant.cfg -Wsem.nothing
ok "diff: a record and a configuration" says 1 'quant.cfg is a configuration, record.txt is a record' diff quant.cfg record.txt
printf '{ "generator": 5 }\n' >no.json
ok "diff: JSON that is no plan" wrong 'these are not two plans of quantc' diff no.json no.json
ok "diff: a file that is not there" says 3 'nowhere.json: cannot open' diff nowhere.json no.json

# ---- forms ----

ok "-h is --help" sh -c '"$1" -h >short && "$1" --help >long && cmp short long && [ -s short ]' - "$QUANTC"
ok "-h behind a command is the command's" sh -c '"$1" check -h >short && "$1" check --help >long && cmp short long' - "$QUANTC"
printf 'batch_num: 1\nbatch_num: 1\n' >twice.cfg
ok "a check is an error" says 1 '[sch.duplicate-field]' check twice.cfg
ok "-W NAME: a warning" says 0 'warning: ' check twice.cfg -W sch.duplicate-field
ok "-WNAME: the same" says 0 'warning: ' check twice.cfg -Wsch.duplicate-field
ok "-Wno-NAME: nothing" sh -c '[ -z "$("$1" check twice.cfg -Wno-sch.duplicate-field 2>&1)" ]' - "$QUANTC"
ok "-E NAME: an error again" says 1 'error: ' check twice.cfg -Wno-sch.duplicate-field -E sch.duplicate-field
cp quant.cfg ./-quant.cfg
ok "files behind -- may begin with -" "$QUANTC" check -- -quant.cfg
fails 2 "without it that is an option" "$QUANTC" check -quant.cfg
ok "-oDIR, --model=FILE" "$QUANTC" compile quant.cfg --model=model.onnx --record=record.txt -oattached
ok "-o DIR, --model FILE" "$QUANTC" compile quant.cfg --model model.onnx --record record.txt -o apart
ok "the same tables" cmp attached/quant_tables.c apart/quant_tables.c

# ---- a file of another kind ----

echo 'layer { name: "a" type: "Conv" }' >a.layers
ok "a list of layers is no configuration" says 1 'a.layers is a list of layers, not a configuration' \
    compile a.layers --model model.onnx -o out.d
ok "a device file that is not there" says 3 'nowhere.options: cannot open' \
    compile quant.cfg --model model.onnx --options nowhere.options -o out.d
ok "a record that is not there" says 3 'nowhere.txt: cannot open' \
    compile quant.cfg --model model.onnx --record nowhere.txt -o out.d
fails 1 "nothing is written" test -e out.d
finish
