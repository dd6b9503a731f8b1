#!/bin/sh
# A C program that prints every array of quant_weights.h: NAME BYTES...
#   dump_weights.sh FOLDER > dump.c
sed -n 's/^extern const \([a-z0-9_]*\) \([A-Za-z0-9_]*\)\[\([0-9]*\)\];/\1 \2 \3/p' "$1/quant_weights.h" | awk '
BEGIN {
    print "#include <stdio.h>\n#include \"quant_weights.h\"\n\nint main(void)\n{\n    int i;\n"
}
{
    printf "    printf(\"%s\");\n", $2
    printf "    for (i = 0; i < %s; i++)\n        printf(\" %%ld\", (long)%s[i]);\n    printf(\"\\n\");\n", $3, $2
}
END { print "    return 0;\n}" }'
