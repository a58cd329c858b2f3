; Added to the grammar's own highlights.

(method_declaration name: (identifier) @function.definition)
(constructor_declaration name: (identifier) @function.definition)
(record_declaration name: (identifier) @type)
(annotation_type_declaration name: (identifier) @type)
(enum_constant name: (identifier) @constructor)
(formal_parameter name: (identifier) @variable.parameter)
(spread_parameter (variable_declarator name: (identifier) @variable.parameter))
(lambda_expression parameters: (identifier) @variable.parameter)
(inferred_parameters (identifier) @variable.parameter)
(field_access field: (identifier) @property)
(field_declaration declarator: (variable_declarator name: (identifier) @property))
((field_access field: (identifier) @constant) (#match? @constant "^[A-Z][A-Z0-9_]+$"))
(package_declaration (scoped_identifier) @module)
(import_declaration (scoped_identifier) @module)
(import_declaration (scoped_identifier name: (identifier) @type) (#match? @type "^[A-Z]"))
(super) @variable.builtin
[(true) (false)] @boolean
(binary_integer_literal) @number
["import" "package"] @keyword.import
[
  "break" "case" "catch" "continue" "default" "do" "else" "finally" "for" "if" "return" "switch"
  "throw" "try" "while" "yield"
] @keyword.control
["instanceof" "new"] @keyword.operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(type_arguments ["<" ">"] @punctuation.bracket)
(type_parameters ["<" ">"] @punctuation.bracket)
["." "," ";" ":" "::"] @punctuation.delimiter
[
  "+" "-" "*" "/" "%" "=" "==" "!=" "<" ">" "<=" ">=" "&&" "||" "!" "&" "|" "^" "~" "<<" ">>" ">>>"
  "++" "--" "+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" ">>>=" "->" "?"
] @operator
(type_arguments ["<" ">"] @punctuation.bracket)
(type_parameters ["<" ">"] @punctuation.bracket)
(annotation "@" @attribute)
(marker_annotation "@" @attribute)
((block_comment) @comment.doc (#match? @comment.doc "^/\\*\\*[^*/]"))
