-- What searches show of the elements of new definitions. $1 partition, then a column each.
INSERT INTO definition_elements (partition, definition, element, id, name, kind, headers)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[]) AS given
