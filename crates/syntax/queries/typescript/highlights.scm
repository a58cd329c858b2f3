; Added to the highlights of the grammar and of JavaScript.

(required_parameter pattern: (identifier) @variable.parameter)
(optional_parameter pattern: (identifier) @variable.parameter)
(required_parameter (rest_pattern (identifier) @variable.parameter))
(arrow_function parameter: (identifier) @variable.parameter)
(function_signature name: (identifier) @function.definition)
(method_signature name: (property_identifier) @function.definition)
(abstract_method_signature name: (property_identifier) @function.definition)
(class_declaration name: (type_identifier) @type)
(abstract_class_declaration name: (type_identifier) @type)
(enum_declaration name: (identifier) @type)
(enum_assignment name: (property_identifier) @constructor)
(enum_body name: (property_identifier) @constructor)
(internal_module name: (identifier) @module)
(type_parameter name: (type_identifier) @type)
(type_parameters ["<" ">"] @punctuation.bracket)
(decorator "@" @attribute)
(decorator (identifier) @attribute)
(decorator (call_expression function: (identifier) @attribute))
(required_parameter pattern: (this) @variable.builtin)
["keyof" "is" "asserts" "infer" "satisfies" "as"] @keyword.operator
["?" ":"] @punctuation.delimiter
(ternary_expression ["?" ":"] @operator)
"enum" @keyword
(predefined_type "void" @type.builtin)
