(block_mapping_pair key: (flow_node) @name) @item.key
