[(flow_mapping) (flow_sequence)] @fold
[(block_mapping_pair) (block_sequence_item) (block_scalar)] @fold
(comment) @fold.comments
