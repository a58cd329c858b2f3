; Later patterns win over earlier ones.

(identifier) @variable
(attribute attribute: (identifier) @property)
(keyword_argument name: (identifier) @variable.parameter)
(type (identifier) @type)
(type (subscript (identifier) @type))
(type (attribute attribute: (identifier) @type))
(type_parameter (type (identifier) @type))

((identifier) @constructor (#match? @constructor "^_*[A-Z]"))
((identifier) @constant (#match? @constant "^_*[A-Z][A-Z0-9_]*$"))
((identifier) @variable.builtin (#any-of? @variable.builtin "self" "cls"))
((identifier) @constant.builtin
  (#any-of? @constant.builtin "__name__" "__file__" "__doc__" "__all__" "NotImplemented"))
((type (identifier) @type.builtin)
  (#any-of? @type.builtin "int" "str" "float" "bool" "bytes" "list" "dict" "set" "tuple" "object"
    "type" "complex" "frozenset" "bytearray"))

(import_statement name: (dotted_name (identifier) @module))
(aliased_import alias: (identifier) @module)
(import_from_statement module_name: (dotted_name (identifier) @module))
(import_from_statement module_name: (relative_import (dotted_name (identifier) @module)))

(call function: (identifier) @function)
(call function: (attribute attribute: (identifier) @function.method))
((call function: (identifier) @constructor) (#match? @constructor "^_*[A-Z]"))
((call function: (identifier) @function.builtin)
  (#any-of? @function.builtin "abs" "all" "any" "ascii" "bin" "bool" "breakpoint" "bytearray"
    "bytes" "callable" "chr" "classmethod" "compile" "complex" "delattr" "dict" "dir" "divmod"
    "enumerate" "eval" "exec" "filter" "float" "format" "frozenset" "getattr" "globals" "hasattr"
    "hash" "help" "hex" "id" "input" "int" "isinstance" "issubclass" "iter" "len" "list" "locals"
    "map" "max" "memoryview" "min" "next" "object" "oct" "open" "ord" "pow" "print" "property"
    "range" "repr" "reversed" "round" "set" "setattr" "slice" "sorted" "staticmethod" "str" "sum"
    "super" "tuple" "type" "vars" "zip" "__import__"))

(function_definition name: (identifier) @function.definition)
(class_definition name: (identifier) @type)
(class_definition superclasses: (argument_list (identifier) @type))
(decorator) @attribute
(decorator (identifier) @attribute)
(decorator (attribute attribute: (identifier) @attribute))
(decorator (call function: (identifier) @attribute))
(decorator (call function: (attribute attribute: (identifier) @attribute)))

(parameters (identifier) @variable.parameter)
(default_parameter name: (identifier) @variable.parameter)
(typed_parameter (identifier) @variable.parameter)
(typed_default_parameter name: (identifier) @variable.parameter)
(lambda_parameters (identifier) @variable.parameter)
(parameters (list_splat_pattern (identifier) @variable.parameter))
(parameters (dictionary_splat_pattern (identifier) @variable.parameter))
((parameters (identifier) @variable.builtin) (#any-of? @variable.builtin "self" "cls"))

[(true) (false)] @boolean
[(none) (ellipsis)] @constant.builtin
[(integer) (float)] @number
(string) @string
(escape_sequence) @string.escape
(escape_interpolation) @string.escape
(interpolation) @embedded
(interpolation ["{" "}"] @punctuation.special)
(format_specifier) @string.special
(type_conversion) @string.special

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," "." ":" ";"] @punctuation.delimiter
(interpolation ["{" "}"] @punctuation.special)

[
  "-" "-=" "!=" "*" "**" "**=" "*=" "/" "//" "//=" "/=" "&" "&=" "%" "%=" "^" "^=" "+" "->" "+="
  "<" "<<" "<<=" "<=" "<>" "=" ":=" "==" ">" ">=" ">>" ">>=" "|" "|=" "~" "@="
] @operator
["and" "in" "is" "not" "or" "is not" "not in"] @keyword.operator

["class" "def" "del" "exec" "global" "lambda" "nonlocal" "print" "async" "type"] @keyword
[
  "assert" "await" "break" "case" "continue" "elif" "else" "except" "finally" "for" "if" "match"
  "pass" "raise" "return" "try" "while" "with" "yield"
] @keyword.control
(for_statement "in" @keyword.control)
(for_in_clause "in" @keyword.control)
["import" "from"] @keyword.import
(aliased_import "as" @keyword.import)
"as" @keyword

(comment) @comment
((module . (comment) @keyword.directive) (#match? @keyword.directive "^#!"))
(module . (expression_statement . (string) @comment.doc))
(class_definition body: (block . (expression_statement . (string) @comment.doc)))
(function_definition body: (block . (expression_statement . (string) @comment.doc)))
