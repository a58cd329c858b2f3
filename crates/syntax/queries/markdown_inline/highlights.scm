(code_span) @literal
(emphasis) @emphasis
(strong_emphasis) @emphasis.strong
(strikethrough) @emphasis.strikethrough
[(link_destination) (uri_autolink) (email_autolink)] @link.uri
[(link_label) (link_text) (image_description)] @link.text
(link_title) @string
[(emphasis_delimiter) (code_span_delimiter)] @punctuation.delimiter
[(backslash_escape) (hard_line_break)] @string.escape
[(entity_reference) (numeric_character_reference)] @string.escape
(latex_block) @string.special
(image ["!" "[" "]" "(" ")"] @punctuation.delimiter)
(inline_link ["[" "]" "(" ")"] @punctuation.delimiter)
(shortcut_link ["[" "]"] @punctuation.delimiter)
(full_reference_link ["[" "]"] @punctuation.delimiter)
(html_tag) @tag
