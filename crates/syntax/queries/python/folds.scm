[
  (function_definition) (class_definition) (if_statement) (elif_clause) (else_clause)
  (for_statement) (while_statement) (try_statement) (except_clause) (finally_clause)
  (with_statement) (match_statement) (case_clause)
] @fold.body
[
  (argument_list) (parameters) (list) (dictionary) (set) (tuple) (list_comprehension)
  (dictionary_comprehension) (set_comprehension) (generator_expression)
  (parenthesized_expression) (string)
] @fold
(comment) @fold.comments
[(import_statement) (import_from_statement) (future_import_statement)] @fold.imports
