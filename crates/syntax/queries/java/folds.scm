[
  (block) (class_body) (interface_body) (enum_body) (constructor_body) (switch_block)
  (array_initializer) (argument_list) (formal_parameters) (annotation_type_body) (block_comment)
  (annotation_argument_list)
] @fold
(line_comment) @fold.comments
(import_declaration) @fold.imports
