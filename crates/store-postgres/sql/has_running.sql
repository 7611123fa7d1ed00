-- Whether any instance of a definition runs, in whichever partition. $1 definition.
SELECT EXISTS (
    SELECT FROM partitions p
    JOIN instances i ON i.partition = p.partition AND i.definition = $1 AND i.state = 'ACTIVE'
) AS running
