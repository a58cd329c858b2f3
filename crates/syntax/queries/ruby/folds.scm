[
  (method) (singleton_method) (class) (singleton_class) (module) (if) (unless) (case) (begin)
  (do_block) (block) (while) (until) (for) (hash) (array) (argument_list) (method_parameters)
  (heredoc_body) (string_array) (symbol_array)
] @fold
[(when) (else) (elsif) (rescue) (ensure)] @fold.body
(comment) @fold.comments
