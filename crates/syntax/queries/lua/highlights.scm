; Added to the grammar's own highlights.

(function_declaration name: (identifier) @function.definition)
(function_declaration name: (dot_index_expression field: (identifier) @function.definition))
(function_declaration name: (method_index_expression method: (identifier) @function.definition))
(table_constructor ["{" "}"] @punctuation.bracket)
(goto_statement (identifier) @label)
((comment) @comment.doc (#match? @comment.doc "^---[^-]"))
