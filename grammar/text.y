/* Grammar of the protobuf text format: fields, groups, lists. What a name
 * means, and whether its value fits, is not known here.
 *
 * KEY is a name with its ':', FIELD one that a bracket follows, NAME one that
 * lacks both, WORD a bare word as a value; text_reader.c tells them apart, and
 * sends brackets only where they can be closed. The tree grows in the actions that
 * open groups and lists, so that an error loses nothing that was read. */
%require "3.8"
%define api.pure full
%define api.prefix {text_}
%define api.token.prefix {TEXT_}
%define api.location.type {struct text_span}
%define parse.error custom
%define parse.lac full
%expect 0
%locations
%param {struct text_reader *r}

%code requires {
#include "text_reader.h"
}

%union {
    struct text_word word;
    size_t groups; /* how many are open: what an error goes back to */
    bool poisoned;
}

%code provides {
int text_lex(TEXT_STYPE *value, struct text_span *loc, struct text_reader *r);
}

%code {
#define YYLLOC_DEFAULT(now, rhs, n)                                            \
    do {                                                                       \
        (now).at = (n) ? (rhs)[1].at : (rhs)[0].end;                           \
        (now).end = (n) ? (rhs)[n].end : (rhs)[0].end;                         \
    } while (0)
/* Brackets nest TEXT_DEPTH deep at most: the stack never has to grow. */
#define YYINITDEPTH 600
#define YYMAXDEPTH  600

static void text_error(struct text_span *loc, struct text_reader *r,
                       const char *text)
{
    (void)loc;
    (void)text;
    r->stop = true; /* the parser's stack is full: cannot happen */
}
}

%token <word> KEY    "a field and ':'"
%token <word> FIELD  "a field"
%token <word> NAME   "a name"
%token <word> STRING "a string"
%token <word> NUMBER "a number"
%token <word> WORD   "a word"
%token <word> '{' '<' '['
%token COMMA ","
%token END 0                     "the end of the file"

%type <groups>   fields
%type <poisoned> strings

%%

fields
    : %empty                      { $$ = r->groups; }
    | fields entry                { $$ = $1; }
    | fields entry ","            { $$ = $1; }
    | fields entry ';'            { $$ = $1; }
    | fields error                { $$ = $1; text_recover(r, $1); }
    ;

entry
    : key scalar
    | key group
    | key list
    | name group
    | name list
    | bare                        { text_no_value(r); }
    | bare scalar
    | bare '=' scalar
    | bare '=' group
    | bare '=' list
    ;

key
    : KEY                         { yyerrok; text_field(r, $1, true); }
    ;

name
    : FIELD                       { yyerrok; text_field(r, $1, false); }
    ;

bare
    : NAME                        { yyerrok; text_field(r, $1, false); }
    ;

scalar
    : strings                     { text_scalar(r, QC_TEXT, @1, $1); }
    | NUMBER                      { text_scalar(r, QC_NUMBER, @1, $1.poisoned); }
    | WORD                        { text_scalar(r, QC_WORD, @1, $1.poisoned); }
    ;

/* What cannot be the rest of the string before it. */
word
    : NUMBER                      { text_scalar(r, QC_NUMBER, @1, $1.poisoned); }
    | WORD                        { text_scalar(r, QC_WORD, @1, $1.poisoned); }
    ;

strings
    : STRING                      { $$ = $1.poisoned; }
    | strings STRING              { $$ = $1 || $2.poisoned; }
    ;

group
    : brace fields '}'            { text_close(r, @3); }
    | brace fields '>'            { text_mismatch(r, @3); }
    | angle fields '>'            { text_close(r, @3); }
    | angle fields '}'            { text_mismatch(r, @3); }
    ;

brace
    : '{'                         { text_open(r, QC_GROUP, $1); }
    ;

angle
    : '<'                         { text_open(r, QC_GROUP, $1); }
    ;

list
    : bracket ']'                 { text_close(r, @2); }
    | bracket elements ']'        { text_close(r, @3); }
    | bracket elements "," ']'    { text_last_comma(r, @3, @4); text_close(r, @4); }
    ;

bracket
    : '['                         { text_open(r, QC_LIST, $1); }
    ;

elements
    : element
    | elements "," element
    | elements wrong_comma element
    | elements no_comma word
    | elements no_comma group
    | elements no_comma list
    ;

element
    : scalar
    | group
    | list
    ;

wrong_comma
    : ';'                         { text_list_fault(r); }
    ;

no_comma
    : %empty                      { text_list_fault(r); }
    ;

%%

/* The class of what could have come says what is missing. */
static enum text_want expected(const yypcontext_t *context)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS), i;
    bool number = false, comma = false;

    for (i = 0; i < n; i++) {
        if (kinds[i] == YYSYMBOL_FIELD)
            return TEXT_WANT_FIELD;
        number |= kinds[i] == YYSYMBOL_NUMBER;
        comma |= kinds[i] == YYSYMBOL_COMMA;
    }
    return comma    ? TEXT_WANT_COMMA
           : number ? TEXT_WANT_VALUE
                    : TEXT_WANT_OTHER;
}

static int yyreport_syntax_error(const yypcontext_t *context,
                                 struct text_reader *r)
{
    /* Asking what could have come takes longer than counting faults. */
    text_syntax_error(r, qc_keeps(r->file) ? expected(context)
                                           : TEXT_WANT_NOTHING);
    return 0;
}
