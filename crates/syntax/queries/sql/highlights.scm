; Added to the grammar's own highlights, whose patterns for numbers are not regular expressions.

(literal) @string
((literal) @number (#match? @number "^[-+]?[0-9]"))
(column_definition name: (identifier) @property)
(column name: (identifier) @property)
(create_table (object_reference name: (identifier) @type))
[(keyword_true) (keyword_false)] @boolean
(keyword_null) @constant.builtin
[(keyword_begin) (keyword_end) (keyword_commit) (keyword_rollback) (keyword_return)] @keyword.control
[(keyword_case) (keyword_when) (keyword_then) (keyword_else)] @keyword.control
["[" "]"] @punctuation.bracket
