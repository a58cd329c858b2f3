-- Parts of output: tokens taken over from a prediction, and predicted tokens that the answer lacks.
ALTER TABLE calls ADD COLUMN accepted_prediction INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN rejected_prediction INTEGER NOT NULL DEFAULT 0;
