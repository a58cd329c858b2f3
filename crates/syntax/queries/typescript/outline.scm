(class_declaration "class" @detail name: (_) @name) @item.class
(abstract_class_declaration "class" @detail name: (_) @name) @item.class
(interface_declaration "interface" @detail name: (_) @name) @item.interface
(type_alias_declaration "type" @detail name: (_) @name) @item.type
(enum_declaration "enum" @detail name: (_) @name) @item.enum
(enum_body name: (_) @name @item.field)
(enum_assignment name: (_) @name) @item.field
(internal_module "namespace" @detail name: (_) @name) @item.module
(module "module" @detail name: (_) @name) @item.module
(function_declaration "async"? @detail "function" @detail name: (identifier) @name) @item.function
(function_signature "function" @detail name: (identifier) @name) @item.function
(generator_function_declaration "function" @detail name: (identifier) @name) @item.function
(method_definition ["get" "set" "async" "static"]* @detail name: (_) @name) @item.method
(method_signature name: (_) @name) @item.method
(abstract_method_signature name: (_) @name) @item.method
(public_field_definition name: (_) @name) @item.field
(property_signature name: (_) @name) @item.field
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
