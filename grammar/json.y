/* Grammar of JSON (RFC 8259), with rules for the mistakes that people make, so
 * that each costs one message and the reading goes on. */
%require "3.8"
%define api.pure full
%define api.prefix {json_}
%define api.location.type {struct qc_loc}
%define parse.error custom
%define parse.lac full
%expect 0
%locations
%parse-param {struct json_reader *r}
%param {void *scanner}

%code requires {
#include "json_reader.h"
}

%union {
    struct json_word word;
    struct qc_node *node;
    struct json_items items;
}

%code provides {
int json_lex(JSON_STYPE *value, struct qc_loc *loc, void *scanner);
}

%code {
/* Enough for QC_MAX_DEPTH open brackets: the stack never grows. */
#define YYINITDEPTH 1000

/* The place of a value of several words is its first; an empty one has that of
 * what stands before it, the opening bracket. */
#define YYLLOC_DEFAULT(now, rhs, n) ((now) = (rhs)[(n) ? 1 : 0])

static void json_error(struct qc_loc *loc, struct json_reader *r,
                       void *scanner, const char *text)
{
    (void)loc, (void)r, (void)scanner, (void)text;
    qc_out_of_memory();
}
}

%token END 0         "the end of the file"
%token <word> KEY    "a key"      /* a string and the ':' behind it      */
%token <word> LONE   "a lone key" /* a string in a key's place, no ':'   */
%token <word> STRING "a string"
%token <word> NUMBER "a number"
%token <word> WORD   "a word"     /* true, false, null                   */
%token DOTS          "'...'"
%token JUNK          "a sign that JSON does not have"

%type <node>  value object list stray
%type <items> members mistake elements

%%

document
    : value                         { r->root = $1; }
    | %empty                        { json_no_document(r); }
    ;

value
    : STRING                        { $$ = json_scalar(r, QC_TEXT, $1, @1); }
    | NUMBER                        { $$ = json_scalar(r, QC_NUMBER, $1, @1); }
    | WORD                          { $$ = json_scalar(r, QC_WORD, $1, @1); }
    | object
    | list
    | DOTS                          { $$ = NULL; }
    ;

object
    : '{' members '}'               { $$ = json_closed(r, $2, @3); }
    ;

members
    : %empty                        { $$ = json_items(r, QC_GROUP, @0); }
    | members KEY value             { $$ = json_member(r, $1, $2, @2, $3); }
    | members ','                   { $$ = json_comma(r, $1, @2); }
    | members DOTS                  { $$ = json_ellipsis($1, @2); }
    | members mistake               { $$ = $2; }
    ;

mistake
    : KEY junk value                { json_before_value(r, $1, @2); $$ = json_member(r, $<items>0, $1, @1, $3); }
    | KEY junk error                { $$ = json_no_value(r, $<items>0, $1, @1, @2); }
    | KEY error                     { $$ = json_no_value(r, $<items>0, $1, @1, @2); }
    | LONE value                    { $$ = json_no_colon(r, $<items>0, $1, @1, @2); }
    | LONE junk value               { $$ = json_no_colon(r, $<items>0, $1, @1, @2); }
    | LONE junk error               { $$ = json_no_colon(r, $<items>0, $1, @1, @2); }
    | LONE error                    { $$ = json_no_colon(r, $<items>0, $1, @1, @2); }
    | stray                         { $$ = json_stray(r, $<items>0, $1, @1); }
    | JUNK                          { $$ = json_junk(r, $<items>0, @1); }
    | ':'                           { $$ = json_junk(r, $<items>0, @1); }
    ;

stray
    : NUMBER                        { $$ = json_scalar(r, QC_NUMBER, $1, @1); }
    | WORD                          { $$ = json_scalar(r, QC_WORD, $1, @1); }
    | object
    | list
    ;

junk
    : JUNK
    | ':'
    | junk JUNK
    | junk ':'
    ;

list
    : '[' elements ']'              { $$ = json_closed(r, $2, @3); }
    ;

elements
    : %empty                        { $$ = json_items(r, QC_LIST, @0); }
    | elements value                { $$ = json_element(r, $1, $2, @2); }
    | elements ','                  { $$ = json_comma(r, $1, @2); }
    | elements JUNK                 { $$ = json_junk(r, $1, @2); }
    | elements ':'                  { $$ = json_junk(r, $1, @2); }
    ;

%%

/* What was expected follows from the place, which the reader knows; the set of
 * tokens that the parser could take holds those of the mistakes too. */
static int yyreport_syntax_error(const yypcontext_t *ctx,
                                 struct json_reader *r, void *scanner)
{
    (void)scanner, (void)yypcontext_expected_tokens;
    json_unexpected(r, *yypcontext_location(ctx));
    return 0;
}
