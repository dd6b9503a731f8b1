/* Grammar of .proto files, the part of proto2 that schemas of data need:
 * no services, groups or extension ranges. */
%require "3.8"
%define api.pure full
%define api.prefix {pb_}
%define api.location.type {struct qc_loc}
%define parse.error custom
%define parse.lac full
%expect 0
%locations
%parse-param {struct proto *p}
%param {void *scanner}
%initial-action { @$ = (struct qc_loc){p->file, 0, 0}; }

%code requires {
#include "proto_tree.h"
}

%union {
    struct proto_word word;
    struct proto_option *option;
}

%code provides {
int pb_lex(PB_STYPE *value, struct qc_loc *loc, void *scanner);
}

%code {
#define YYLLOC_DEFAULT(now, rhs, n)                                            \
    ((now) = (n) ? qc_span((rhs)[1], (rhs)[n])                                 \
                 : (struct qc_loc){(rhs)[0].file,                              \
                                   (rhs)[0].at + (rhs)[0].len, 0})

static void pb_error(struct qc_loc *loc, struct proto *p, void *scanner,
                     const char *text)
{
    (void)scanner;
    proto_error(p, *loc, "%s", text);
}
}

%token <word> SYNTAX   "'syntax'"
%token <word> IMPORT   "'import'"
%token <word> PACKAGE  "'package'"
%token <word> OPTION   "'option'"
%token <word> MESSAGE  "'message'"
%token <word> ENUM     "'enum'"
%token <word> EXTEND   "'extend'"
%token <word> ONEOF    "'oneof'"
%token <word> MAP      "'map'"
%token <word> RESERVED "'reserved'"
%token <word> TO       "'to'"
%token <word> OPTIONAL "'optional'"
%token <word> REQUIRED "'required'"
%token <word> REPEATED "'repeated'"
%token <word> IDENT    "a name"
%token <word> INT      "an integer"
%token <word> FLOAT    "a number"
%token <word> STRING   "a string"
%token BAD             "a character that cannot stand here"
%token END 0           "the end of the file"

%type <word>   label name path type strings number constant
%type <option> options option_list option

%%

file
    : syntax items
    ;

syntax
    : SYNTAX '=' strings ';'                       { proto_syntax(p, $3); }
    ;

items
    : %empty
    | items item
    ;

item
    : PACKAGE path ';'                             { proto_package(p, $2); }
    | IMPORT strings ';'
    | common
    ;

common
    : OPTION option_name '=' constant ';'
    | message
    | extend
    | enum
    | ';'
    | error ';'
    ;

option_name
    : path
    | '(' type ')'
    ;

message
    : MESSAGE name '{'                             { proto_open_message(p, $2, $1.doc); }
      members '}'                                  { proto_close_message(p); }
    ;

extend
    : EXTEND type '{'                              { proto_open_extend(p, $2); }
      members '}'                                  { proto_close_message(p); }
    ;

members
    : %empty
    | members member
    ;

member
    : label type name '=' INT options ';'          { proto_add_field(p, $1, $2, $3, $5, $6); }
    | MAP '<' type ',' type '>' name '=' INT options ';' { proto_add_map(p, $1, $3, $5, $7, $9, $10); }
    | ONEOF name '{'                               { p->choice = $2.text; }
      choices '}'                                  { p->choice = QC_STR(""); }
    | RESERVED reserved ';'
    | common
    ;

label
    : OPTIONAL
    | REQUIRED
    | REPEATED
    ;

choices
    : %empty
    | choices choice
    ;

choice
    : type name '=' INT options ';'                { proto_add_choice(p, $1, $2, $4, $5); }
    | ';'
    | error ';'
    ;

reserved
    : reserved_item
    | reserved ',' reserved_item
    ;

reserved_item
    : INT
    | INT TO INT
    | INT TO IDENT
    | STRING
    ;

enum
    : ENUM name '{'                                { proto_open_enum(p, $2, $1.doc); }
      values '}'                                   { proto_close_enum(p); }
    ;

values
    : %empty
    | values value
    ;

value
    : name '=' number options ';'                  { proto_add_value(p, $1, $3); }
    | OPTION option_name '=' constant ';'
    | RESERVED reserved ';'
    | ';'
    | error ';'
    ;

options
    : %empty                                       { $$ = NULL; }
    | '[' option_list ']'                          { $$ = $2; }
    ;

option_list
    : option
    | option ',' option_list                       { ($$ = $1)->next = $3; }
    ;

option
    : name '=' constant                            { $$ = proto_option(p, $1, false, $3); }
    | '(' type ')' '=' constant                    { $$ = proto_option(p, $2, true, $5); }
    ;

constant
    : path
    | '-' path                                     { $$ = proto_join(p, @1, $2); }
    | number
    | FLOAT
    | '-' FLOAT                                    { $$ = proto_join(p, @1, $2); }
    | strings
    ;

number
    : INT
    | '-' INT                                      { $$ = proto_join(p, @1, $2); }
    ;

strings
    : STRING
    | strings STRING                               { $$ = proto_concat(p, $1, $2); }
    ;

type
    : IDENT
    | '.' IDENT                                    { $$ = proto_join(p, @1, $2); }
    | type '.' name                                { $$ = proto_join(p, $1.loc, $3); }
    ;

path
    : name
    | path '.' name                                { $$ = proto_join(p, $1.loc, $3); }
    ;

name
    : IDENT | SYNTAX | IMPORT | PACKAGE | OPTION | MESSAGE | ENUM | EXTEND
    | ONEOF | MAP | RESERVED | TO | OPTIONAL | REQUIRED | REPEATED
    ;

%%

#define EXPECTED_MAX 4

static int yyreport_syntax_error(const yypcontext_t *ctx, struct proto *p,
                                 void *scanner)
{
    yysymbol_kind_t expected[EXPECTED_MAX];
    yysymbol_kind_t found = yypcontext_token(ctx);
    int i, n = yypcontext_expected_tokens(ctx, expected, EXPECTED_MAX);
    struct qc_str list = QC_STR("");

    (void)scanner;
    for (i = 0; i < n; i++)
        list = qc_format(p->qc, "%.*s%s%s", QC_ARG(list),
                         i == 0 ? "" : i == n - 1 ? " or " : ", ",
                         yysymbol_name(expected[i]));
    proto_error(p, *yypcontext_location(ctx), "expected %s, found %s",
                list.len ? list.ptr : "something else", yysymbol_name(found));
    return 0;
}
