(create_table (keyword_table) @detail (object_reference) @name) @item.struct
(create_view (keyword_view) @detail (object_reference) @name) @item.type
(create_materialized_view (keyword_view) @detail (object_reference) @name) @item.type
(create_function (keyword_function) @detail (object_reference) @name) @item.function
(create_trigger (keyword_trigger) @detail (object_reference) @name) @item.function
(create_type (keyword_type) @detail (object_reference) @name) @item.type
(create_schema (keyword_schema) @detail (identifier) @name) @item.module
(column_definition name: (identifier) @name) @item.field
