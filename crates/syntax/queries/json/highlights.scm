(string) @string
(pair key: (string) @property)
(number) @number
[(true) (false)] @boolean
(null) @constant.builtin
(escape_sequence) @string.escape
["{" "}" "[" "]"] @punctuation.bracket
["," ":"] @punctuation.delimiter
(comment) @comment
