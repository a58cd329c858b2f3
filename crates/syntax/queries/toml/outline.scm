(table . "[" . (_) @name) @item.module
(table_array_element . "[[" . (_) @name) @item.module
((pair . (_) @name) @item.key
  (#has-parents? @item.key "document"))
((pair . (_) @name) @item.key
  (#has-parents? @item.key "table"))
((pair . (_) @name) @item.key
  (#has-parents? @item.key "table_array_element"))
