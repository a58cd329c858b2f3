[
  (statement_block) (class_body) (object) (array) (arguments) (formal_parameters) (switch_body)
  (named_imports) (export_clause) (object_pattern) (array_pattern) (template_string)
  (parenthesized_expression) (interface_body) (enum_body) (object_type) (type_parameters)
] @fold
[(switch_case) (switch_default)] @fold.body
(comment) @fold.comments
(import_statement) @fold.imports
