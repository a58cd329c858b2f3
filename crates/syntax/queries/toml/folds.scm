[(array) (inline_table) (string)] @fold
[(table) (table_array_element)] @fold.body
(comment) @fold.comments
