(class_declaration "class" @detail name: (_) @name) @item.class
(record_declaration "record" @detail name: (_) @name) @item.struct
(interface_declaration "interface" @detail name: (_) @name) @item.interface
(annotation_type_declaration "@interface" @detail name: (_) @name) @item.interface
(enum_declaration "enum" @detail name: (_) @name) @item.enum
(enum_constant name: (_) @name) @item.field
(method_declaration name: (_) @name) @item.method
(constructor_declaration name: (_) @name) @item.method
(field_declaration declarator: (variable_declarator name: (_) @name)) @item.field
