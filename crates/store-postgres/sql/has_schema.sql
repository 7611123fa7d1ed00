-- Whether this schema was ever migrated.
SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version')
