; Later patterns win over earlier ones.

(identifier) @variable
(field_identifier) @property
(type_identifier) @type
(package_identifier) @module
(label_name) @label
(blank_identifier) @variable.builtin
((type_identifier) @type.builtin
  (#any-of? @type.builtin "any" "bool" "byte" "comparable" "complex64" "complex128" "error"
    "float32" "float64" "int" "int8" "int16" "int32" "int64" "rune" "string" "uint" "uint8"
    "uint16" "uint32" "uint64" "uintptr"))
(const_spec name: (identifier) @constant)
(keyed_element . (literal_element (identifier) @property))
(parameter_declaration name: (identifier) @variable.parameter)
(variadic_parameter_declaration name: (identifier) @variable.parameter)

(call_expression function: (identifier) @function)
(call_expression function: (selector_expression field: (field_identifier) @function.method))
((call_expression function: (identifier) @function.builtin)
  (#any-of? @function.builtin "append" "cap" "clear" "close" "complex" "copy" "delete" "imag" "len"
    "make" "max" "min" "new" "panic" "print" "println" "real" "recover"))
(function_declaration name: (identifier) @function.definition)
(method_declaration name: (field_identifier) @function.definition)
(method_elem name: (field_identifier) @function.definition)

[
  "--" "-" "-=" ":=" "!" "!=" "*" "*=" "/" "/=" "&" "&&" "&=" "%" "%=" "^" "^=" "+" "++" "+=" "<-"
  "<" "<<" "<<=" "<=" "=" "==" ">" ">=" ">>" ">>=" "|" "|=" "||" "~" "&^" "&^="
] @operator
"..." @punctuation.special
["." "," ":" ";"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket

["chan" "const" "func" "interface" "map" "struct" "type" "var"] @keyword
[
  "break" "case" "continue" "default" "defer" "else" "fallthrough" "for" "go" "goto" "if" "range"
  "return" "select" "switch"
] @keyword.control
["import" "package"] @keyword.import

[(interpreted_string_literal) (raw_string_literal) (rune_literal)] @string
(escape_sequence) @string.escape
[(int_literal) (float_literal) (imaginary_literal)] @number
[(true) (false)] @boolean
[(nil) (iota)] @constant.builtin
(field_declaration tag: (_) @string.special)
(comment) @comment
((comment) @keyword.directive (#match? @keyword.directive "^//(go:|line )"))
