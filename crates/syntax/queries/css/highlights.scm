(tag_name) @tag
[(nesting_selector) (universal_selector)] @tag
(class_name) @type
(id_name) @constant
(namespace_name) @module
(property_name) @property
(feature_name) @property
(plain_value) @variable
((property_name) @variable (#match? @variable "^--"))
((plain_value) @constant (#match? @constant "^[a-z]"))
((plain_value) @variable (#match? @variable "^--"))
(pseudo_element_selector (tag_name) @keyword)
(pseudo_class_selector (class_name) @keyword)
(attribute_name) @attribute
(attribute_selector (plain_value) @string)
(function_name) @function
(keyframes_name) @function.definition
(at_keyword) @keyword.directive
["@media" "@charset" "@namespace" "@supports" "@keyframes" "@scope"] @keyword.directive
"@import" @keyword.import
[(to) (from) (important) (important_value)] @keyword
["and" "or" "not" "only"] @keyword.operator
(string_value) @string
(escape_sequence) @string.escape
(color_value) @string.special
[(integer_value) (float_value)] @number
(unit) @type.builtin
["~" ">" "+" "-" "*" "/" "=" "^=" "|=" "~=" "$=" "*="] @operator
["#" "," "." ":" "::" ";"] @punctuation.delimiter
["{" "}" "(" ")" "[" "]"] @punctuation.bracket
[(comment) (js_comment)] @comment
