(table . "[" . (_) @name) @item.module
(table_array_element . "[[" . (_) @name) @item.module
(document (pair . (_) @name) @item.key)
(table (pair . (_) @name) @item.key)
(table_array_element (pair . (_) @name) @item.key)
