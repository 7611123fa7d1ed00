-- What an instance has called, and what that has, the newest first: whatever was called is newer than who called it.
SELECT key, ended IS NULL FROM instances WHERE root = ?1 AND parent_instance IS NOT NULL ORDER BY key DESC LIMIT ?2
