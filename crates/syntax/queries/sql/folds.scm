[
  (column_definitions) (subquery) (list) (create_function) (block) (cte) (case)
] @fold
(statement) @fold
(comment) @fold.comments
