(bare_key) @property
(quoted_key) @property
(table . "[" . [(bare_key) (quoted_key)] @type)
(table . "[" . (dotted_key [(bare_key) (quoted_key)] @type))
(table_array_element . "[[" . [(bare_key) (quoted_key)] @type)
(table_array_element . "[[" . (dotted_key [(bare_key) (quoted_key)] @type))
(boolean) @boolean
(comment) @comment
(string) @string
(escape_sequence) @string.escape
[(integer) (float)] @number
[(offset_date_time) (local_date_time) (local_date) (local_time)] @string.special
["." ","] @punctuation.delimiter
"=" @operator
["[" "]" "[[" "]]" "{" "}"] @punctuation.bracket
