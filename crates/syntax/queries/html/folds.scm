[(element) (script_element) (style_element)] @fold
[(start_tag) (comment)] @fold
