[(double_quote_scalar) (single_quote_scalar) (block_scalar) (string_scalar)] @string
(boolean_scalar) @boolean
(null_scalar) @constant.builtin
[(integer_scalar) (float_scalar)] @number
(timestamp_scalar) @string.special
(escape_sequence) @string.escape
(comment) @comment
[(anchor_name) (alias_name)] @label
(tag) @type
[(yaml_directive) (tag_directive) (reserved_directive)] @keyword.directive
(block_mapping_pair key: (flow_node [(double_quote_scalar) (single_quote_scalar)] @property))
(block_mapping_pair key: (flow_node (plain_scalar (_) @property)))
(flow_mapping (_ key: (flow_node [(double_quote_scalar) (single_quote_scalar)] @property)))
(flow_mapping (_ key: (flow_node (plain_scalar (_) @property))))
["," "-" ":" ">" "?" "|"] @punctuation.delimiter
["[" "]" "{" "}"] @punctuation.bracket
["*" "&" "---" "..."] @punctuation.special
