; Later patterns win over earlier ones.

(identifier) @variable
(metavariable) @variable
(type_identifier) @type
(primitive_type) @type.builtin
(field_identifier) @property
(shorthand_field_identifier) @property
(field_initializer field: (field_identifier) @property)

((identifier) @constructor (#match? @constructor "^[A-Z]"))
((identifier) @constant (#match? @constant "^[A-Z][A-Z0-9_]+$"))

(scoped_identifier path: (identifier) @module)
(scoped_identifier path: (scoped_identifier name: (identifier) @module))
(scoped_type_identifier path: (identifier) @module)
(scoped_type_identifier path: (scoped_identifier name: (identifier) @module))
(scoped_use_list path: (identifier) @module)
(scoped_use_list path: (scoped_identifier name: (identifier) @module))
(use_wildcard (identifier) @module)
(use_wildcard (scoped_identifier name: (identifier) @module))
(use_declaration argument: (identifier) @module)
(mod_item name: (identifier) @module)
(extern_crate_declaration name: (identifier) @module)
((scoped_identifier path: (identifier) @type) (#match? @type "^[A-Z]"))
((scoped_identifier path: (scoped_identifier name: (identifier) @type)) (#match? @type "^[A-Z]"))
((scoped_type_identifier path: (identifier) @type) (#match? @type "^[A-Z]"))
((use_list (identifier) @type) (#match? @type "^[A-Z]"))
((use_declaration argument: (scoped_identifier name: (identifier) @type)) (#match? @type "^[A-Z]"))
((use_as_clause alias: (identifier) @type) (#match? @type "^[A-Z]"))

(enum_variant name: (identifier) @constructor)
(struct_pattern type: (scoped_type_identifier name: (type_identifier) @constructor))
(const_item name: (identifier) @constant)
(static_item name: (identifier) @constant)

(call_expression function: (identifier) @function)
(call_expression function: (scoped_identifier name: (identifier) @function))
(call_expression function: (field_expression field: (field_identifier) @function.method))
(generic_function function: (identifier) @function)
(generic_function function: (scoped_identifier name: (identifier) @function))
(generic_function function: (field_expression field: (field_identifier) @function.method))
((call_expression function: (identifier) @constructor) (#match? @constructor "^[A-Z]"))
((call_expression function: (scoped_identifier name: (identifier) @constructor))
  (#match? @constructor "^[A-Z]"))

(function_item name: (identifier) @function.definition)
(function_signature_item name: (identifier) @function.definition)
(macro_definition name: (identifier) @function.macro)
(macro_invocation macro: (identifier) @function.macro)
(macro_invocation macro: (scoped_identifier name: (identifier) @function.macro))

(parameter pattern: (identifier) @variable.parameter)
(parameter pattern: (mut_pattern (identifier) @variable.parameter))
(parameter pattern: (ref_pattern (identifier) @variable.parameter))
(closure_parameters (identifier) @variable.parameter)
(self) @variable.builtin

(lifetime "'" @label)
(lifetime (identifier) @label)
(label (identifier) @label)

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(type_arguments ["<" ">"] @punctuation.bracket)
(type_parameters ["<" ">"] @punctuation.bracket)
(bracketed_type ["<" ">"] @punctuation.bracket)
(for_lifetimes ["<" ">"] @punctuation.bracket)
(closure_parameters "|" @punctuation.bracket)
["::" ":" "." "," ";"] @punctuation.delimiter
["#" "$"] @punctuation.special

[
  "=" "==" "!=" "<=" ">=" "&&" "||" "+" "-" "/" "%" "^" "!" "=>" "->" ".." "..=" "..." "<<" ">>"
  "+=" "-=" "*=" "/=" "%=" "^=" "&=" "|=" "<<=" ">>=" "@" "?" "*" "&"
] @operator
(macro_invocation "!" @function.macro)
(binary_expression ["<" ">" "|"] @operator)
(or_pattern "|" @operator)

[
  "const" "dyn" "enum" "extern" "fn" "impl" "let" "macro_rules!" "mod" "move" "pub" "ref"
  "static" "struct" "trait" "type" "union" "unsafe" "where" "async" "default" "gen" "raw"
] @keyword
["await" "break" "continue" "else" "for" "if" "loop" "match" "return" "while" "yield"]
  @keyword.control
["as" "in"] @keyword.operator
(for_expression "in" @keyword.control)
"use" @keyword.import
(extern_crate_declaration "extern" @keyword.import)
(extern_crate_declaration (crate) @keyword.import)
(use_as_clause "as" @keyword.import)
(visibility_modifier (crate) @keyword)
(crate) @keyword
(super) @keyword
(mutable_specifier) @keyword
(scoped_identifier (self) @keyword)
(use_list (self) @keyword)
(scoped_use_list (self) @keyword)

(boolean_literal) @boolean
(integer_literal) @number
(float_literal) @number
(char_literal) @string
(string_literal) @string
(raw_string_literal) @string
(escape_sequence) @string.escape

(attribute_item) @attribute
(inner_attribute_item) @attribute
(attribute (identifier) @attribute)
(attribute (scoped_identifier name: (identifier) @attribute))
(attribute_item "#" @attribute)
(inner_attribute_item "#" @attribute)

(line_comment) @comment
(block_comment) @comment
(line_comment (doc_comment)) @comment.doc
(block_comment (doc_comment)) @comment.doc
(outer_doc_comment_marker "/" @comment.doc)
(inner_doc_comment_marker "!" @comment.doc)
(shebang) @comment
