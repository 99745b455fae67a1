package function

// Lazy returns the functions that the planner compiles itself, because they evaluate only some of their arguments or
// convert them to what package builtin says is the type of the call.
func Lazy() []string {
	return []string{"CHOOSE", "COALESCE", "GREATEST", "IIF", "LEAST", "NULLIF"}
}

// OfSession returns the functions that ask the catalog or the session, which the planner compiles too. GROUPING and
// GROUPING_ID are among them: their value is known where the groups are made.
func OfSession() []string {
	return []string{
		"APPLOCK_MODE", "APPLOCK_TEST", "APP_NAME", "COLUMNPROPERTY", "COLUMNS_UPDATED", "COL_LENGTH", "COL_NAME",
		"CONNECTIONPROPERTY", "CONTEXT_INFO", "CURRENT_REQUEST_ID", "CURRENT_TRANSACTION_ID", "CURRENT_USER", "CURSOR_STATUS",
		"DATABASEPROPERTYEX", "DATABASE_PRINCIPAL_ID", "DB_ID", "DB_NAME", "ERROR_LINE", "ERROR_MESSAGE", "ERROR_NUMBER",
		"ERROR_PROCEDURE", "ERROR_SEVERITY", "ERROR_STATE", "GETANSINULL", "GROUPING", "GROUPING_ID", "HAS_DBACCESS",
		"HAS_PERMS_BY_NAME", "HOST_ID", "HOST_NAME", "IDENT_CURRENT", "IDENT_INCR", "IDENT_SEED", "INDEXPROPERTY",
		"IS_MEMBER", "IS_ROLEMEMBER", "IS_SRVROLEMEMBER", "MIN_ACTIVE_ROWVERSION", "OBJECTPROPERTY", "OBJECTPROPERTYEX",
		"OBJECT_DEFINITION", "OBJECT_ID", "OBJECT_NAME", "OBJECT_SCHEMA_NAME", "ORIGINAL_DB_NAME", "ORIGINAL_LOGIN",
		"ROWCOUNT_BIG", "SCHEMA_ID", "SCHEMA_NAME", "SCOPE_IDENTITY", "SERVERPROPERTY", "SESSIONPROPERTY",
		"SESSION_CONTEXT", "SESSION_USER", "STATS_DATE", "SUSER_ID", "SUSER_NAME", "SUSER_SID", "SUSER_SNAME",
		"SYSTEM_USER", "TRIGGER_NESTLEVEL", "TYPEPROPERTY", "TYPE_ID", "TYPE_NAME", "USER", "USER_ID", "USER_NAME",
		"XACT_STATE",
	}
}

// Unsupported returns the functions that the front end knows and this server refuses: those that need keys and
// certificates, files, or a regular expression of a server after 2022.
func Unsupported() []string {
	return []string{
		"ASYMKEY_ID", "CERT_ID", "DECRYPTBYASYMKEY", "DECRYPTBYCERT", "DECRYPTBYKEY", "DECRYPTBYKEYAUTOASYMKEY",
		"DECRYPTBYKEYAUTOCERT", "DECRYPTBYPASSPHRASE", "ENCRYPTBYASYMKEY", "ENCRYPTBYCERT", "ENCRYPTBYKEY",
		"ENCRYPTBYPASSPHRASE", "GET_FILESTREAM_TRANSACTION_CONTEXT", "KEY_GUID", "KEY_ID", "PWDCOMPARE", "PWDENCRYPT",
		"REGEXP_REPLACE", "SIGNBYASYMKEY", "SIGNBYCERT", "VERIFYSIGNEDBYASYMKEY", "VERIFYSIGNEDBYCERT",
	}
}
