-- $1 upload, $2 number.
SELECT bytes FROM document_parts WHERE upload = $1 AND number = $2
