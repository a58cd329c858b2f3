(function_definition declarator: (function_declarator declarator: (_) @name)) @item.function
(function_definition declarator: (pointer_declarator
  declarator: (function_declarator declarator: (_) @name))) @item.function
((declaration declarator: (function_declarator declarator: (_) @name)) @item.function
  (#has-parents? @item.function "translation_unit"))
(struct_specifier "struct" @detail name: (_) @name body: (_)) @item.struct
(union_specifier "union" @detail name: (_) @name body: (_)) @item.struct
(enum_specifier "enum" @detail name: (_) @name body: (_)) @item.enum
(enumerator name: (_) @name) @item.field
(field_declaration declarator: (field_identifier) @name) @item.field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @item.field
(type_definition "typedef" @detail declarator: (type_identifier) @name) @item.type
(preproc_def "#define" @detail name: (_) @name) @item.macro
(preproc_function_def "#define" @detail name: (_) @name) @item.macro
((declaration declarator: (identifier) @name) @item.variable
  (#has-parents? @item.variable "translation_unit"))
((declaration declarator: (init_declarator declarator: (identifier) @name)) @item.variable
  (#has-parents? @item.variable "translation_unit"))
(function_definition declarator: (reference_declarator
  (function_declarator declarator: (_) @name))) @item.function
(class_specifier "class" @detail name: (_) @name body: (_)) @item.class
(namespace_definition "namespace" @detail name: (_) @name) @item.module
(field_declaration declarator: (function_declarator declarator: (_) @name)) @item.method
((declaration declarator: (function_declarator declarator: (_) @name)) @item.function
  (#has-parents? @item.function "declaration_list"))
(alias_declaration "using" @detail name: (_) @name) @item.type
(concept_definition "concept" @detail name: (_) @name) @item.type
