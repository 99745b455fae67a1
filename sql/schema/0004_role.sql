-- The role for the login that an application runs with: it may call the procedures
-- and read the views, and nothing else. Tables are out of its reach: a procedure or a
-- view reaches them through its owner. EXECUTE on the schema is EXECUTE on its
-- procedures and on the table types that they take, and says nothing about tables.
-- Each view grants SELECT on itself.
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_runtime')
    CREATE ROLE duroxide_runtime;
GO
GRANT EXECUTE ON SCHEMA::duroxide TO duroxide_runtime;
