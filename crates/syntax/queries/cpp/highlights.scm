; Added to the highlights of C.

(namespace_identifier) @module
((namespace_identifier) @type (#match? @type "^[A-Z]"))
(namespace_definition name: (_) @module)
(auto) @type.builtin
(this) @variable.builtin
(null "nullptr" @constant.builtin)

(call_expression function: (qualified_identifier name: (identifier) @function))
(call_expression function: (template_function name: (identifier) @function))
(call_expression function: (qualified_identifier name: (template_function name: (identifier) @function)))
(template_function name: (identifier) @function)
(template_method name: (field_identifier) @function.method)
(function_declarator declarator: (qualified_identifier name: (identifier) @function.definition))
(function_declarator declarator: (field_identifier) @function.definition)
(function_declarator declarator: (destructor_name) @function.definition)
(operator_name) @function.definition
(reference_declarator (identifier) @variable.parameter)
(optional_parameter_declaration declarator: (identifier) @variable.parameter)
(field_initializer (field_identifier) @property)
(concept_definition name: (identifier) @type)

[
  "class" "constexpr" "constinit" "consteval" "explicit" "final" "friend" "mutable" "namespace"
  "noexcept" "override" "private" "protected" "public" "template" "typename" "using" "concept"
  "requires" "virtual" "decltype" "operator" "static_assert"
] @keyword
["catch" "co_await" "co_return" "co_yield" "throw" "try"] @keyword.control
["new" "delete"] @keyword.operator
(access_specifier) @keyword

["::"] @punctuation.delimiter
(template_argument_list ["<" ">"] @punctuation.bracket)
(template_parameter_list ["<" ">"] @punctuation.bracket)
(raw_string_literal) @string
(literal_suffix) @type
"<=>" @operator
