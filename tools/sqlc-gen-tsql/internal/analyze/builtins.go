package analyze

import "github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"

// The built-in functions, a table per family, after Microsoft's reference of Transact-SQL. Each row says what arguments
// the function takes (the letters of argumentKinds), the rule for its type and the one for NULL.

// Without a null field they are NULL of no rows, and of rows that are all NULL: see nullableAggregate.
var aggregateFunctions = map[string]builtin{
	"COUNT":                 {args: "a", result: fixed(typeInt), null: nullNever, use: ofGroup},
	"COUNT_BIG":             {args: "a", result: fixed(typeBigInt), null: nullNever, use: ofGroup},
	"APPROX_COUNT_DISTINCT": {args: "a", result: fixed(typeBigInt), null: nullNever, use: ofGroup},
	"SUM":                   {args: "a", result: aggregate(sqltype.Sum), use: ofGroup},
	"AVG":                   {args: "a", result: aggregate(sqltype.Avg), use: ofGroup},
	"MIN":                   {args: "a", result: aggregate(sqltype.MinMax), use: ofGroup},
	"MAX":                   {args: "a", result: aggregate(sqltype.MinMax), use: ofGroup},
	"STRING_AGG":            {args: "as", result: aggregate(sqltype.StringAgg), use: ofGroup},
	"CHECKSUM_AGG":          {args: "i", result: fixed(typeInt), use: ofGroup},
	// The variance of a single row is NULL.
	"STDEV":         {args: "a", result: aggregate(sqltype.Statistic), null: nullAlways, use: ofGroup},
	"STDEVP":        {args: "a", result: aggregate(sqltype.Statistic), null: nullAlways, use: ofGroup},
	"VAR":           {args: "a", result: aggregate(sqltype.Statistic), null: nullAlways, use: ofGroup},
	"VARP":          {args: "a", result: aggregate(sqltype.Statistic), null: nullAlways, use: ofGroup},
	"GROUPING":      {args: "a", result: fixed(typeTinyInt), null: nullNever, use: ofGrouped},
	"GROUPING_ID":   {args: "a*", result: fixed(typeInt), null: nullNever, use: ofGrouped},
	"JSON_ARRAYAGG": {args: "a", result: fixed(typeNVarCharMax), null: nullAlways, use: ofGroup},
	// Its key is checked like those of JSON_OBJECT.
	"JSON_OBJECTAGG": {args: "a", result: fixed(typeNVarCharMax), null: nullAlways, use: ofGroup},
}

// They have a value for every row and need OVER. LAG, LEAD and their like look at another row, which may not be there.
var windowFunctions = map[string]builtin{
	"ROW_NUMBER":      {result: fixed(typeBigInt), null: nullNever, use: ofWindow},
	"RANK":            {result: fixed(typeBigInt), null: nullNever, use: ofWindow},
	"DENSE_RANK":      {result: fixed(typeBigInt), null: nullNever, use: ofWindow},
	"NTILE":           {args: "i", result: fixed(typeBigInt), null: nullNever, use: ofWindow},
	"PERCENT_RANK":    {result: fixed(typeFloat), null: nullNever, use: ofWindow},
	"CUME_DIST":       {result: fixed(typeFloat), null: nullNever, use: ofWindow},
	"LAG":             {args: "a?ia", result: shiftRule, null: nullAlways, use: ofWindow},
	"LEAD":            {args: "a?ia", result: shiftRule, null: nullAlways, use: ofWindow},
	"FIRST_VALUE":     {args: "a", result: ofFirst, null: nullIfFirst, use: ofWindow},
	"LAST_VALUE":      {args: "a", result: ofFirst, null: nullIfFirst, use: ofWindow},
	"PERCENTILE_CONT": {args: "n", result: fixed(typeFloat), null: nullAlways, use: ofWindow},
	"PERCENTILE_DISC": {args: "n", result: percentileRule, null: nullAlways, use: ofWindow},
}

var conditionalFunctions = map[string]builtin{
	"COALESCE": {args: "aa*", result: united(0), null: nullIfAll},
	"ISNULL":   {args: "aa", result: isNullRule, null: nullIfAll},
	"NULLIF":   {args: "aa", result: nullIfRule, null: nullAlways},
	"IIF":      {args: "caa", result: united(1)},
	// A number without a value yields NULL.
	"CHOOSE":   {args: "iaa*", result: united(1), null: nullAlways},
	"GREATEST": {args: "aa*", result: united(0), null: nullIfAll},
	"LEAST":    {args: "aa*", result: united(0), null: nullIfAll},
}

// Most take a number or a date as the text that it prints, by implicit conversion.
var stringFunctions = map[string]builtin{
	// The empty string has no first character.
	"ASCII":          {args: "s", result: fixed(typeInt), null: nullAlways},
	"UNICODE":        {args: "s", result: fixed(typeInt), null: nullAlways},
	"CHAR":           {args: "i", result: fixed(sqltype.Type{Kind: sqltype.Char, Length: 1}), null: nullOddly},
	"NCHAR":          {args: "i", result: fixed(sqltype.Type{Kind: sqltype.NChar, Length: 1}), null: nullOddly},
	"CHARINDEX":      {args: "ss?i", result: sizedBy(1)},
	"PATINDEX":       {args: "ss", result: sizedBy(1)},
	"LEN":            {args: "s", result: sizedBy(0)},
	"DATALENGTH":     {args: "a", result: sizedBy(0)},
	"CONCAT":         {args: "aa*", result: concatRule, null: nullNever},
	"CONCAT_WS":      {args: "saa*", result: concatRule, null: nullNever},
	"DIFFERENCE":     {args: "ss", result: fixed(typeInt)},
	"FORMAT":         {args: "as?s", result: fixed(nvarchar(4000)), null: nullAlways},
	"LEFT":           {args: "si", result: partOf(1)},
	"RIGHT":          {args: "si", result: partOf(1)},
	"SUBSTRING":      {args: "bii", result: partOf(2)},
	"LOWER":          {args: "s", result: sameText},
	"UPPER":          {args: "s", result: sameText},
	"LTRIM":          {args: "s?s", result: sameText},
	"RTRIM":          {args: "s?s", result: sameText},
	"TRIM":           {args: "s?s", result: trimRule},
	"REVERSE":        {args: "s", result: sameText},
	"QUOTENAME":      {args: "k?s", result: fixed(nvarchar(258)), null: nullAlways},
	"REPLACE":        {args: "sss", result: longText},
	"REPLICATE":      {args: "bi", result: longText, null: nullOddly},
	"STUFF":          {args: "biis", result: longText, null: nullAlways},
	"TRANSLATE":      {args: "sss", result: longText},
	"SPACE":          {args: "i", result: fixed(varchar(8000)), null: nullOddly},
	"SOUNDEX":        {args: "s", result: fixed(varchar(4))},
	"STR":            {args: "n?ii", result: strRule},
	"STRING_ESCAPE":  {args: "ss", result: fixed(typeNVarCharMax)},
	"PARSENAME":      {args: "ki", result: fixed(typeSysname), null: nullAlways},
	"BASE64_ENCODE":  {args: "b?i", result: encodeRule},
	"ISNUMERIC":      {args: "a", result: fixed(typeInt), null: nullNever},
	"REGEXP_REPLACE": {args: "ss?siis", result: longText},
}

// GETDATE is datetime, whose fraction is rounded to .000, .003 or .007 seconds; SYSUTCDATETIME is datetime2(7). What
// the author chose is what Go gets.
var dateFunctions = map[string]builtin{
	"GETDATE":                {result: fixed(typeDateTime), null: nullNever},
	"GETUTCDATE":             {result: fixed(typeDateTime), null: nullNever},
	"CURRENT_TIMESTAMP":      {result: fixed(typeDateTime), null: nullNever},
	"CURRENT_DATE":           {result: fixed(typeDate), null: nullNever},
	"SYSDATETIME":            {result: fixed(dateTime2(7)), null: nullNever},
	"SYSUTCDATETIME":         {result: fixed(dateTime2(7)), null: nullNever},
	"SYSDATETIMEOFFSET":      {result: fixed(dateTimeOffset(7)), null: nullNever},
	"DATEADD":                {args: "pid", result: keepsDate(2, typeDateTime)},
	"DATEDIFF":               {args: "pdd", result: fixed(typeInt)},
	"DATEDIFF_BIG":           {args: "pdd", result: fixed(typeBigInt)},
	"DATEPART":               {args: "pd", result: fixed(typeInt)},
	"DATENAME":               {args: "pd", result: fixed(nvarchar(30))},
	"DATETRUNC":              {args: "pd", result: keepsDate(1, dateTime2(7))},
	"DATE_BUCKET":            {args: "pid?d", result: keepsDate(2, dateTime2(7))},
	"DAY":                    {args: "d", result: fixed(typeInt)},
	"MONTH":                  {args: "d", result: fixed(typeInt)},
	"YEAR":                   {args: "d", result: fixed(typeInt)},
	"EOMONTH":                {args: "d?i", result: fixed(typeDate)},
	"ISDATE":                 {args: "s", result: fixed(typeInt), null: nullNever},
	"DATEFROMPARTS":          {args: "iii", result: fixed(typeDate)},
	"DATETIMEFROMPARTS":      {args: "iiiiiii", result: fixed(typeDateTime)},
	"SMALLDATETIMEFROMPARTS": {args: "iiiii", result: fixed(sqltype.Type{Kind: sqltype.SmallDateTime})},
	"TIMEFROMPARTS":          {args: "iiiii", result: withPrecision(timeOf)},
	"DATETIME2FROMPARTS":     {args: "iiiiiiii", result: withPrecision(dateTime2)},
	"DATETIMEOFFSETFROMPARTS": {
		args: "iiiiiiiiii", result: withPrecision(dateTimeOffset),
	},
	"SWITCHOFFSET":        {args: "da", result: withOffset},
	"TODATETIMEOFFSET":    {args: "da", result: withOffset},
	"CURRENT_TIMEZONE":    {result: fixed(varchar(128)), null: nullNever},
	"CURRENT_TIMEZONE_ID": {result: fixed(varchar(128)), null: nullNever},
}

// Those that are not exact by nature (SQRT, LOG, SIN) are float whatever they are given.
var mathFunctions = map[string]builtin{
	"ABS":       {args: "n", result: sameNumber(unchanged)},
	"CEILING":   {args: "n", result: sameNumber(withoutFraction)},
	"FLOOR":     {args: "n", result: sameNumber(withoutFraction)},
	"ROUND":     {args: "ni?i", result: sameNumber(unchanged)},
	"SIGN":      {args: "n", result: sameNumber(unchanged)},
	"POWER":     {args: "nn", result: sameNumber(widest)},
	"DEGREES":   {args: "n", result: sameNumber(func(sqltype.Type) sqltype.Type { return decimal(38, 18) })},
	"RADIANS":   {args: "n", result: sameNumber(func(sqltype.Type) sqltype.Type { return decimal(38, 18) })},
	"ACOS":      {args: "n", result: fixed(typeFloat)},
	"ASIN":      {args: "n", result: fixed(typeFloat)},
	"ATAN":      {args: "n", result: fixed(typeFloat)},
	"ATN2":      {args: "nn", result: fixed(typeFloat)},
	"COS":       {args: "n", result: fixed(typeFloat)},
	"COT":       {args: "n", result: fixed(typeFloat)},
	"SIN":       {args: "n", result: fixed(typeFloat)},
	"TAN":       {args: "n", result: fixed(typeFloat)},
	"EXP":       {args: "n", result: fixed(typeFloat)},
	"LOG":       {args: "n?n", result: fixed(typeFloat)},
	"LOG10":     {args: "n", result: fixed(typeFloat)},
	"PI":        {result: fixed(typeFloat), null: nullNever},
	"RAND":      {args: "?i", result: fixed(typeFloat)},
	"SQRT":      {args: "n", result: fixed(typeFloat)},
	"SQUARE":    {args: "n", result: fixed(typeFloat)},
	"BIT_COUNT": {args: "a", result: fixed(typeBigInt)},
}

// JSON is text in most versions of the server: nvarchar(4000) where a value is meant, and (max) where a document is.
var jsonFunctions = map[string]builtin{
	"ISJSON":           {args: "j?w", result: fixed(typeInt)},
	"JSON_VALUE":       {args: "js", result: fixed(nvarchar(4000)), null: nullAlways},
	"JSON_QUERY":       {args: "j?s", result: fixed(typeNVarCharMax), null: nullAlways},
	"JSON_MODIFY":      {args: "jsa", result: fixed(typeNVarCharMax), null: nullIfFirst},
	"JSON_PATH_EXISTS": {args: "js", result: fixed(typeInt)},
	"JSON_OBJECT":      {args: "?a*", result: fixed(typeNVarCharMax), null: nullNever},
	"JSON_ARRAY":       {args: "?a*", result: fixed(typeNVarCharMax), null: nullNever},
}

// Names of objects and settings of the session. Nearly all are NULL for what does not exist or may not be seen.
var systemFunctions = map[string]builtin{
	"APP_NAME":               {result: fixed(typeSysname), null: nullAlways},
	"APPLOCK_MODE":           {args: "kkk", result: fixed(nvarchar(32)), null: nullAlways},
	"APPLOCK_TEST":           {args: "kkkk", result: fixed(typeSmallInt), null: nullAlways},
	"BINARY_CHECKSUM":        {args: "a*", result: fixed(typeInt), null: nullNever},
	"CHECKSUM":               {args: "a*", result: fixed(typeInt), null: nullNever},
	"COL_LENGTH":             {args: "kk", result: fixed(typeSmallInt), null: nullAlways},
	"COL_NAME":               {args: "ii", result: fixed(typeSysname), null: nullAlways},
	"COLUMNPROPERTY":         {args: "ikk", result: fixed(typeInt), null: nullAlways},
	"COMPRESS":               {args: "a", result: fixed(varbinary(sqltype.Max))},
	"CONNECTIONPROPERTY":     {args: "k", result: fixed(typeVariant), null: nullAlways},
	"CONTEXT_INFO":           {result: fixed(varbinary(128)), null: nullAlways},
	"CURRENT_TRANSACTION_ID": {result: fixed(typeBigInt), null: nullNever},
	"CURSOR_STATUS":          {args: "kk", result: fixed(typeSmallInt), null: nullAlways},
	"DATABASEPROPERTYEX":     {args: "kk", result: fixed(typeVariant), null: nullAlways},
	"DB_ID":                  {args: "?k", result: fixed(typeInt), null: nullAlways},
	"DB_NAME":                {args: "?i", result: fixed(typeSysname), null: nullAlways},
	"DECOMPRESS":             {args: "a", result: fixed(varbinary(sqltype.Max))},
	"FORMATMESSAGE":          {args: "aa*", result: fixed(nvarchar(2048)), null: nullAlways},
	"GETANSINULL":            {args: "?k", result: fixed(typeInt), null: nullAlways},
	"HOST_ID":                {result: fixed(sqltype.Type{Kind: sqltype.Char, Length: 10}), null: nullAlways},
	"HOST_NAME":              {result: fixed(typeSysname), null: nullAlways},
	"IDENT_CURRENT":          {args: "k", result: fixed(decimal(38, 0)), null: nullAlways},
	"IDENT_INCR":             {args: "k", result: fixed(decimal(38, 0)), null: nullAlways},
	"IDENT_SEED":             {args: "k", result: fixed(decimal(38, 0)), null: nullAlways},
	"INDEXPROPERTY":          {args: "ikk", result: fixed(typeInt), null: nullAlways},
	"MIN_ACTIVE_ROWVERSION":  {result: fixed(sqltype.Type{Kind: sqltype.Binary, Length: 8}), null: nullNever},
	"NEWID":                  {result: fixed(typeGUID), null: nullNever},
	"NEWSEQUENTIALID":        {result: fixed(typeGUID), null: nullNever},
	"OBJECT_DEFINITION":      {args: "i", result: fixed(typeNVarCharMax), null: nullAlways},
	"OBJECT_ID":              {args: "k?k", result: fixed(typeInt), null: nullAlways},
	"OBJECT_NAME":            {args: "i?i", result: fixed(typeSysname), null: nullAlways},
	"OBJECT_SCHEMA_NAME":     {args: "i?i", result: fixed(typeSysname), null: nullAlways},
	"OBJECTPROPERTY":         {args: "ik", result: fixed(typeInt), null: nullAlways},
	"OBJECTPROPERTYEX":       {args: "ik", result: fixed(typeVariant), null: nullAlways},
	"ROWCOUNT_BIG":           {result: fixed(typeBigInt), null: nullNever},
	"SCHEMA_ID":              {args: "?k", result: fixed(typeInt), null: nullAlways},
	"SCHEMA_NAME":            {args: "?i", result: fixed(typeSysname), null: nullAlways},
	"SCOPE_IDENTITY":         {result: fixed(decimal(38, 0)), null: nullAlways},
	"SERVERPROPERTY":         {args: "k", result: fixed(typeVariant), null: nullAlways},
	"SESSION_CONTEXT":        {args: "k", result: fixed(typeVariant), null: nullAlways},
	"SESSIONPROPERTY":        {args: "k", result: fixed(typeVariant), null: nullAlways},
	"SQL_VARIANT_PROPERTY":   {args: "ak", result: fixed(typeVariant), null: nullAlways},
	"STATS_DATE":             {args: "ii", result: fixed(typeDateTime), null: nullAlways},
	"TYPE_ID":                {args: "k", result: fixed(typeInt), null: nullAlways},
	"TYPE_NAME":              {args: "i", result: fixed(typeSysname), null: nullAlways},
	"TYPEPROPERTY":           {args: "kk", result: fixed(typeInt), null: nullAlways},
	"TRIGGER_NESTLEVEL":      {args: "?ikk", result: fixed(typeInt), null: nullAlways},
	"XACT_STATE":             {result: fixed(typeSmallInt), null: nullNever},
	"CURRENT_REQUEST_ID":     {result: fixed(typeSmallInt), null: nullNever},
	"GET_FILESTREAM_TRANSACTION_CONTEXT": {
		result: fixed(varbinary(sqltype.Max)), null: nullAlways,
	},
}

var securityFunctions = map[string]builtin{
	"CURRENT_USER":          {result: fixed(typeSysname), null: nullNever},
	"DATABASE_PRINCIPAL_ID": {args: "?k", result: fixed(typeInt), null: nullAlways},
	"HAS_DBACCESS":          {args: "k", result: fixed(typeInt), null: nullAlways},
	"HAS_PERMS_BY_NAME":     {args: "kkk?kk", result: fixed(typeInt), null: nullAlways},
	"IS_MEMBER":             {args: "k", result: fixed(typeInt), null: nullAlways},
	"IS_ROLEMEMBER":         {args: "k?k", result: fixed(typeInt), null: nullAlways},
	"IS_SRVROLEMEMBER":      {args: "k?k", result: fixed(typeInt), null: nullAlways},
	"ORIGINAL_DB_NAME":      {result: fixed(typeSysname), null: nullAlways},
	"ORIGINAL_LOGIN":        {result: fixed(typeSysname), null: nullNever},
	"SESSION_USER":          {result: fixed(typeSysname), null: nullNever},
	"SUSER_ID":              {args: "?k", result: fixed(typeInt), null: nullAlways},
	"SUSER_NAME":            {args: "?i", result: fixed(typeSysname), null: nullAlways},
	"SUSER_SID":             {args: "?ki", result: fixed(varbinary(85)), null: nullAlways},
	"SUSER_SNAME":           {args: "?a", result: fixed(typeSysname), null: nullAlways},
	"SYSTEM_USER":           {result: fixed(typeSysname), null: nullNever},
	"USER":                  {result: fixed(typeSysname), null: nullNever},
	"USER_ID":               {args: "?k", result: fixed(typeInt), null: nullAlways},
	"USER_NAME":             {args: "?i", result: fixed(typeSysname), null: nullAlways},
}

// Outside of a CATCH block these are NULL.
//
// They are NULL outside of a CATCH, and a procedure that is called from one has them too; hence always nullable.
var errorFunctions = map[string]builtin{
	"ERROR_LINE":      {result: fixed(typeInt), null: nullAlways},
	"ERROR_MESSAGE":   {result: fixed(nvarchar(4000)), null: nullAlways},
	"ERROR_NUMBER":    {result: fixed(typeInt), null: nullAlways},
	"ERROR_PROCEDURE": {result: fixed(typeSysname), null: nullAlways},
	"ERROR_SEVERITY":  {result: fixed(typeInt), null: nullAlways},
	"ERROR_STATE":     {result: fixed(typeInt), null: nullAlways},
}

// HASHBYTES is varbinary(8000) to the server whatever the algorithm, which is an argument.
var cryptoFunctions = map[string]builtin{
	"CRYPT_GEN_RANDOM": {args: "i?b", result: randomRule, null: nullAlways},
	"HASHBYTES":        {args: "kb", result: fixed(varbinary(8000)), null: nullAlways},
	"PWDCOMPARE":       {args: "sb?i", result: fixed(typeInt), null: nullAlways},
	"PWDENCRYPT":       {args: "s", result: fixed(varbinary(128)), null: nullAlways},
}

// systemVariables are the @@names. The old ones stay for programs that were written before there were functions.
var systemVariables = map[string]typed{
	"@@CONNECTIONS":      {Type: typeInt},
	"@@CPU_BUSY":         {Type: typeInt},
	"@@CURSOR_ROWS":      {Type: typeInt},
	"@@DATEFIRST":        {Type: typeTinyInt},
	"@@DBTS":             {Type: varbinary(8)},
	"@@ERROR":            {Type: typeInt},
	"@@FETCH_STATUS":     {Type: typeInt},
	"@@IDENTITY":         {Type: decimal(38, 0), Nullable: true},
	"@@IDLE":             {Type: typeInt},
	"@@IO_BUSY":          {Type: typeInt},
	"@@LANGID":           {Type: typeSmallInt},
	"@@LANGUAGE":         {Type: typeSysname},
	"@@LOCK_TIMEOUT":     {Type: typeInt},
	"@@MAX_CONNECTIONS":  {Type: typeInt},
	"@@MAX_PRECISION":    {Type: typeTinyInt},
	"@@MICROSOFTVERSION": {Type: typeInt},
	"@@NESTLEVEL":        {Type: typeInt},
	"@@OPTIONS":          {Type: typeInt},
	"@@PACKET_ERRORS":    {Type: typeInt},
	"@@PACK_RECEIVED":    {Type: typeInt},
	"@@PACK_SENT":        {Type: typeInt},
	"@@PROCID":           {Type: typeInt},
	"@@REMSERVER":        {Type: typeSysname, Nullable: true},
	"@@ROWCOUNT":         {Type: typeInt},
	"@@SERVERNAME":       {Type: typeSysname, Nullable: true},
	"@@SERVICENAME":      {Type: typeSysname},
	"@@SPID":             {Type: typeSmallInt},
	"@@TEXTSIZE":         {Type: typeInt},
	"@@TIMETICKS":        {Type: typeInt},
	"@@TOTAL_ERRORS":     {Type: typeInt},
	"@@TOTAL_READ":       {Type: typeInt},
	"@@TOTAL_WRITE":      {Type: typeInt},
	"@@TRANCOUNT":        {Type: typeInt},
	"@@VERSION":          {Type: nvarchar(300)},
}
