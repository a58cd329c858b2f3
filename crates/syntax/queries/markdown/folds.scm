[(section) (fenced_code_block) (list) (block_quote) (html_block) (pipe_table) (minus_metadata) (plus_metadata)] @fold
