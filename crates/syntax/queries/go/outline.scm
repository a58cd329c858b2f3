(function_declaration "func" @detail name: (identifier) @name) @item.function
(method_declaration "func" @detail receiver: (parameter_list) @name name: (field_identifier) @name)
  @item.method
(type_spec name: (type_identifier) @name type: (struct_type)) @item.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @item.interface
(type_spec name: (type_identifier) @name) @item.type
(type_alias name: (type_identifier) @name) @item.type
(field_declaration name: (field_identifier) @name) @item.field
(method_elem name: (field_identifier) @name) @item.method
((const_declaration "const" @detail (const_spec name: (identifier) @name) @item.constant) @_declaration
  (#has-parents? @_declaration "source_file"))
((var_declaration "var" @detail (var_spec name: (identifier) @name) @item.variable) @_declaration
  (#has-parents? @_declaration "source_file"))
