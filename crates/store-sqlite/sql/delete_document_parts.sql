DELETE FROM document_parts WHERE upload = ?1
