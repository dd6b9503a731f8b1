# Prints the tables of docs/compat.md from gen/keys.def. A key with several
# lines is listed once for each pair of severities that it has.
BEGIN {
    print "### Checks whose severity differs"
    print ""
    print "| check | default | `--compat amct` | about |"
    print "| --- | --- | --- | --- |"
}

/^QC_KEY\(/ {
    line = $0
    sub(/^QC_KEY\([A-Z0-9_]+, *"/, "", line)
    key = line
    sub(/".*/, "", key)
    sub(/^[^"]*", */, "", line)
    split(line, part, /, */)
    about = line
    sub(/^[A-Z]+, *[A-Z]+, *"/, "", about)
    sub(/"\)$/, "", about)
    row = "| `" key "` | " tolower(part[1]) " | " tolower(part[2]) " | " \
          about " |"
    if (part[1] != part[2])
        print row
    rows[++count] = row
}

END {
    print ""
    print "### All checks"
    print ""
    print "| check | default | `--compat amct` | about |"
    print "| --- | --- | --- | --- |"
    for (i = 1; i <= count; i++)
        print rows[i]
}
