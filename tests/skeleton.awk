# What a document and its translation have in common, one line each, in order:
# levels of headings; code blocks, word for word; of every table its rows with
# the number of cells; and of headings, paragraphs, lists and rows the code
# spans, links and numbers. Of the tables of checks also the severities.
#
# Order within a paragraph is the translator's, so spans are sorted. Links count
# by the file's name: the translation stands in another folder.

function add(kind, what) {
    if (!((kind, what) in seen)) {
        seen[kind, what] = 1
        items[++count] = kind " " what
    }
}

# The spans of s go into items; what is left are words.
function collect(s,    code, target) {
    while (match(s, /`[^`]*`/)) {
        code = substr(s, RSTART, RLENGTH)
        s = substr(s, 1, RSTART - 1) " " substr(s, RSTART + RLENGTH)
        add("code", code)
    }
    while (match(s, /\]\([^)]*\)/)) {
        target = substr(s, RSTART + 2, RLENGTH - 3)
        sub(/.*\//, "", target)
        # Text of a link may be a file's name: the target says it.
        s = substr(s, 1, RSTART - 1) " " substr(s, RSTART + RLENGTH)
        add("link", target)
    }
    while (match(s, /[0-9]+(\.[0-9]+)*/)) {
        add("number", substr(s, RSTART, RLENGTH))
        s = substr(s, RSTART + RLENGTH)
    }
}

function sort(    i, k, t) {
    for (i = 2; i <= count; i++) {
        t = items[i]
        for (k = i - 1; k > 0 && items[k] > t; k--)
            items[k + 1] = items[k]
        items[k + 1] = t
    }
}

function flush(head,    i) {
    if (text == "" && head == "")
        return
    collect(text)
    sort()
    if (head != "")
        print head
    for (i = 1; i <= count; i++)
        print "  " items[i]
    text = ""
    count = 0
    split("", seen)
    split("", items)
}

/^\[English\]/ { next }
/docs\/zh\/README\.md/ { next }
/^```/ {
    flush("")
    inside = !inside
    print
    next
}
inside { print; next }
/^#/ {
    flush("")
    text = $0
    sub(/ .*/, "", $0)
    level = $0
    flush(level)
    next
}
/^    / { flush(""); print; next }
/^\|/ {
    flush("")
    cells = split($0, cell, /\|/) - 2
    text = $0
    severities = ""
    if (cells == 4 && cell[3] ~ /^ (ignore|warning|error|fatal) $/)
        severities = cell[3] cell[4]
    flush("row of " cells severities)
    next
}
/^([*]|[0-9]+\.) / { flush(""); item = 1 }
/^$/ { flush(""); next }
{ text = text " " $0 }
END { flush("") }
