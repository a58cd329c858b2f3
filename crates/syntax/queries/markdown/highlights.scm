(atx_heading) @title
(setext_heading (paragraph) @title)
[
  (atx_h1_marker) (atx_h2_marker) (atx_h3_marker) (atx_h4_marker) (atx_h5_marker) (atx_h6_marker)
  (setext_h1_underline) (setext_h2_underline)
] @punctuation.special
[(indented_code_block) (fenced_code_block)] @literal
(info_string (language) @label)
(fenced_code_block_delimiter) @punctuation.delimiter
(code_fence_content) @literal
(link_destination) @link.uri
(link_label) @link.text
(link_title) @string
[
  (list_marker_plus) (list_marker_minus) (list_marker_star) (list_marker_dot)
  (list_marker_parenthesis) (thematic_break)
] @punctuation.special
[(task_list_marker_checked) (task_list_marker_unchecked)] @punctuation.special
[(block_continuation) (block_quote_marker)] @punctuation.special
(pipe_table_header "|" @punctuation.delimiter)
(pipe_table_row "|" @punctuation.delimiter)
(pipe_table_delimiter_row) @punctuation.delimiter
(pipe_table_header (pipe_table_cell) @emphasis.strong)
(backslash_escape) @string.escape
[(entity_reference) (numeric_character_reference)] @string.escape
(html_block) @embedded
