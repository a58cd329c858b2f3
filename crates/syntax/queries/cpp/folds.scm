[
  (compound_statement) (field_declaration_list) (enumerator_list) (initializer_list)
  (parameter_list) (argument_list) (declaration_list) (preproc_if) (preproc_ifdef)
  (template_parameter_list) (raw_string_literal)
] @fold
(case_statement) @fold.body
(comment) @fold.comments
(preproc_include) @fold.imports
