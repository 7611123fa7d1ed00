SELECT id FROM identity
