[
  (block) (field_declaration_list) (literal_value) (argument_list) (parameter_list)
  (import_spec_list) (interface_type) (const_declaration) (var_spec_list) (raw_string_literal)
  (type_declaration) (expression_switch_statement) (type_switch_statement) (select_statement)
] @fold
[(expression_case) (type_case) (default_case) (communication_case)] @fold.body
(comment) @fold.comments
(import_declaration) @fold.imports
