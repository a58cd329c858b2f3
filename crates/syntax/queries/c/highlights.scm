; Later patterns win over earlier ones.

(identifier) @variable
(field_identifier) @property
(type_identifier) @type
(primitive_type) @type.builtin
(sized_type_specifier) @type.builtin
(statement_identifier) @label
(field_designator (field_identifier) @property)

((identifier) @constant (#match? @constant "^[A-Z][A-Z0-9_]*$"))
(enumerator name: (identifier) @constant)
(null) @constant.builtin
[(true) (false)] @boolean

(call_expression function: (identifier) @function)
(call_expression function: (field_expression field: (field_identifier) @function.method))
(function_declarator declarator: (identifier) @function.definition)
(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (_) @function)))
(preproc_function_def name: (identifier) @function.macro)
(preproc_def name: (identifier) @constant)
((call_expression function: (identifier) @function.macro) (#match? @function.macro "^[A-Z][A-Z0-9_]*$"))

(parameter_declaration declarator: (identifier) @variable.parameter)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @variable.parameter))
(parameter_declaration declarator: (pointer_declarator
  declarator: (pointer_declarator declarator: (identifier) @variable.parameter)))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @variable.parameter))
(preproc_params (identifier) @variable.parameter)

[
  "const" "enum" "extern" "inline" "static" "struct" "typedef" "union" "volatile" "register"
  "restrict" "_Atomic" "_Noreturn" "thread_local" "__attribute__"
] @keyword
[
  "break" "case" "continue" "default" "do" "else" "for" "goto" "if" "return" "switch" "while"
] @keyword.control
["sizeof" "offsetof" "_Alignof" "alignof" "_Generic"] @keyword.operator
["#define" "#elif" "#else" "#endif" "#if" "#ifdef" "#ifndef" "defined"] @keyword.directive
(preproc_directive) @keyword.directive
"#include" @keyword.import

[
  "--" "-" "-=" "->" "=" "!=" "*" "&" "&&" "+" "++" "+=" "<" "==" ">" "||" "!" "~" "/" "%" "|" "^"
  "<<" ">>" "<=" ">=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "?"
] @operator
(conditional_expression ":" @operator)
["." ";" "," ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
"..." @punctuation.special

(number_literal) @number
(string_literal) @string
(char_literal) @string
(system_lib_string) @string
(escape_sequence) @string.escape
(comment) @comment
((comment) @comment.doc (#match? @comment.doc "^(/\\*\\*[^*/]|///|//!)"))
