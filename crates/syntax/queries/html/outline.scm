((element . (start_tag (tag_name) @detail) . (text) @name) @item.heading
  (#any-of? @detail "h1" "h2" "h3" "h4" "h5" "h6" "title"))
((element . (start_tag (tag_name) @name)) @item.other
  (#any-of? @name "html" "head" "body" "main" "header" "footer" "nav" "section" "article" "form" "table"))
(script_element (start_tag (tag_name) @name)) @item.other
(style_element (start_tag (tag_name) @name)) @item.other
