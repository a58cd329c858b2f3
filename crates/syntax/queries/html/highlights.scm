(tag_name) @tag
(erroneous_end_tag_name) @error
(doctype) @keyword.directive
(attribute_name) @attribute
[(attribute_value) (quoted_attribute_value)] @string
(entity) @string.escape
(comment) @comment
["<" ">" "</" "/>" "<!"] @punctuation.bracket
(attribute "=" @operator)
((attribute (attribute_name) @_name (quoted_attribute_value (attribute_value) @link.uri))
  (#any-of? @_name "href" "src"))
((element (start_tag (tag_name) @_tag) (text) @title) (#any-of? @_tag "h1" "h2" "h3" "title"))
