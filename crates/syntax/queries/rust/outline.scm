(mod_item "mod" @detail name: (identifier) @name) @item.module
(struct_item "struct" @detail name: (type_identifier) @name) @item.struct
(union_item "union" @detail name: (type_identifier) @name) @item.struct
(enum_item "enum" @detail name: (type_identifier) @name) @item.enum
(enum_variant name: (identifier) @name) @item.field
(field_declaration name: (field_identifier) @name) @item.field
(trait_item "trait" @detail name: (type_identifier) @name) @item.interface
(impl_item "impl" @detail trait: (_)? @name "for"? @name type: (_) @name) @item.class
(type_item "type" @detail name: (type_identifier) @name) @item.type
(associated_type "type" @detail name: (type_identifier) @name) @item.type
(const_item "const" @detail name: (identifier) @name) @item.constant
(static_item "static" @detail name: (identifier) @name) @item.constant
(function_item (function_modifiers)? @detail "fn" @detail name: (identifier) @name) @item.function
(function_signature_item (function_modifiers)? @detail "fn" @detail name: (identifier) @name)
  @item.function
(macro_definition "macro_rules!" @detail name: (identifier) @name) @item.macro
