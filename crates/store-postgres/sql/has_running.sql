-- Whether any instance of a definition runs, in whichever partition. $1 definition.
SELECT EXISTS (SELECT FROM instances WHERE definition = $1 AND state = 'ACTIVE') AS running
