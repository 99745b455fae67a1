USE master
GO
DROP DATABASE h_live_probe
GO
SELECT name FROM sys.databases
GO
