[
  (block) (declaration_list) (field_declaration_list) (ordered_field_declaration_list)
  (enum_variant_list) (match_block) (use_list) (token_tree) (arguments) (parameters)
  (array_expression) (tuple_expression) (field_initializer_list) (parenthesized_expression)
  (struct_pattern) (where_clause) (block_comment) (string_literal) (raw_string_literal)
  (macro_definition) (type_parameters)
] @fold
(line_comment) @fold.comments
(use_declaration) @fold.imports
