[
  (compound_statement) (do_group) (if_statement) (case_statement) (subshell) (array)
  (command_substitution) (heredoc_body)
] @fold
[(case_item) (else_clause) (elif_clause)] @fold.body
(comment) @fold.comments
