(class_declaration "class" @detail name: (_) @name) @item.class
(function_declaration "async"? @detail "function" @detail name: (identifier) @name) @item.function
(generator_function_declaration "function" @detail name: (identifier) @name) @item.function
(method_definition ["get" "set" "async" "static"]* @detail name: (_) @name) @item.method
(field_definition property: (_) @name) @item.field
((lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression)]) @item.function) @_declaration
  (#has-parents? @_declaration "program"))
((lexical_declaration kind: _ @detail (variable_declarator name: (identifier) @name) @item.variable) @_declaration
  (#has-parents? @_declaration "program"))
((lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression)]) @item.function) @_declaration
  (#has-parents? @_declaration "export_statement" "program"))
((lexical_declaration kind: _ @detail (variable_declarator name: (identifier) @name) @item.variable) @_declaration
  (#has-parents? @_declaration "export_statement" "program"))
((call_expression function: (identifier) @detail
  arguments: (arguments . (string) @name)) @item.other
  (#any-of? @detail "describe" "it" "test"))
