; Added to the grammar's own highlights; later patterns win over earlier ones.

(function_expression name: (identifier) @function.definition)
(function_declaration name: (identifier) @function.definition)
(generator_function_declaration name: (identifier) @function.definition)
(method_definition name: (property_identifier) @function.definition)
(class_declaration name: (_) @type)
(new_expression constructor: (identifier) @constructor)
(import_specifier name: (identifier) @variable)
(namespace_import (identifier) @module)

[(true) (false)] @boolean
(escape_sequence) @string.escape
(regex) @string.regex
(template_substitution) @embedded
(template_substitution ["${" "}"] @punctuation.special)

["break" "case" "catch" "continue" "default" "do" "else" "finally" "for" "if" "return" "switch"
 "throw" "try" "while" "yield" "await"] @keyword.control
["import" "export" "from"] @keyword.import
["delete" "in" "instanceof" "new" "of" "typeof" "void"] @keyword.operator
(for_in_statement ["of" "in"] @keyword.control)
(hash_bang_line) @keyword.directive
((comment) @comment.doc (#match? @comment.doc "^/\\*\\*[^*/]"))
