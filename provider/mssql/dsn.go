package mssql

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/microsoft/go-mssqldb/msdsn"
)

// appName is what the server's lists of sessions show, unless the connection string
// says something else.
const appName = "duroxide-go"

// dsn is a connection string, understood.
type dsn struct {
	// text is the connection string as the driver gets it.
	text string
	// schema is the parameter schema, which is ours; empty if there is none.
	schema string
	// keepAlive is the time between the signs of life on an idle connection.
	keepAlive time.Duration
}

// parseDSN understands the three forms of the driver (URL, ADO, ODBC), adds to them
// what the store needs, and accepts what other tools call the same:
//
//   - mssql:// stands for sqlserver://;
//   - the path of a URL is the database if the URL has a port or an address in Azure and
//     no parameter database. The driver takes the path for the name of an instance,
//     which means nothing once the port is known;
//   - the parameter schema is [Options.Schema].
//
// Errors never quote the connection string, which holds a password.
func parseDSN(text string) (dsn, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return dsn{}, invalid("the connection string is empty; it looks like sqlserver://user:password@host:1433?database=name")
	}
	if scheme, rest, ok := strings.Cut(text, "://"); ok && isScheme(scheme) {
		return parseURL(strings.ToLower(scheme), rest)
	}
	prefix, rest := "", text
	if strings.HasPrefix(strings.ToLower(text), "odbc:") {
		prefix, rest = "odbc:", text[len("odbc:"):]
	}
	return understood(prefix+rest, func(defaults []parameter) string {
		// In front, since a value without its closing quote would swallow what is behind.
		var b strings.Builder
		b.WriteString(prefix)
		for _, p := range defaults {
			b.WriteString(p.name + "=" + p.value + ";")
		}
		return b.String() + rest
	})
}

// SchemaOf returns the schema that [Open] uses for a connection string: the one that it names, or [DefaultSchema].
// Error: [provider.ErrInvalidArgument] for a connection string that cannot be parsed; the text quotes nothing of it.
func SchemaOf(dsn string) (string, error) {
	parsed, err := parseDSN(dsn)
	if err != nil {
		return "", err
	}
	return cmp.Or(parsed.schema, DefaultSchema), nil
}

// isScheme tells the scheme of a URL from the beginning of a value in another form that
// happens to hold "://".
func isScheme(text string) bool { return !strings.ContainsAny(text, "=;@: ") }

// parseURL is parseDSN for a URL.
func parseURL(scheme, rest string) (dsn, error) {
	if scheme != "sqlserver" && scheme != "mssql" {
		return dsn{}, invalid("the connection string is a URL of another kind of server (%s); SQL Server's begin with sqlserver://", scheme)
	}
	u, err := url.Parse("sqlserver://" + rest)
	if err != nil {
		// The error quotes the URL.
		return dsn{}, invalid("the connection string is not a valid URL: " +
			"write special characters of the user name and password as %%XX, such as %%40 for @ and %%2F for /")
	}
	if u.Host == "" {
		return dsn{}, invalid("the connection string names no server; it looks like sqlserver://user:password@host:1433?database=name")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		// URL.Query would leave out what it cannot read, encrypt=strict for one.
		return dsn{}, invalid("the parameters of the connection string are not valid: separate them by &, " +
			"and write special characters as %%XX, such as %%3B for ; and %%25 for %%")
	}
	path := strings.Trim(u.Path, "/")
	if isDatabase := u.Port() != "" || strings.HasSuffix(u.Hostname(), ".database.windows.net"); isDatabase && path != "" {
		u.Path = ""
		if !hasName(query, msdsn.Database) {
			query.Set(msdsn.Database, path)
		}
	}
	u.RawQuery = query.Encode()
	return understood(u.String(), func(defaults []parameter) string {
		for _, p := range defaults {
			query.Set(p.name, p.value)
		}
		u.RawQuery = query.Encode()
		return u.String()
	})
}

// hasName reports whether the query has the parameter, in upper or lower case.
func hasName(query url.Values, name string) bool {
	for key := range query {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// parameter is one of a connection string.
type parameter struct{ name, value string }

// understood checks a connection string by the driver's own parser, and adds by the
// function what it leaves to the store.
func understood(text string, with func([]parameter) string) (dsn, error) {
	config, err := msdsn.Parse(text)
	if err != nil {
		return dsn{}, invalid("the connection string cannot be used: %s", withoutValues(err))
	}
	if _, ok := config.Parameters[msdsn.Server]; !ok {
		return dsn{}, invalid("the connection string names no server; it looks like " +
			"sqlserver://user:password@host:1433?database=name or server=host;user id=user;password=...;database=name")
	}
	var defaults []parameter
	for _, p := range []parameter{
		{msdsn.AppName, appName},
		// A call that broke in the middle may have been carried out; only the store
		// knows whether it can be repeated (rule Q11).
		{msdsn.DisableRetry, "true"},
	} {
		if _, ok := config.Parameters[p.name]; !ok {
			defaults = append(defaults, p)
		}
	}
	return dsn{text: with(defaults), schema: config.Parameters["schema"], keepAlive: config.KeepAlive}, nil
}

// withoutValues is the text of the driver's error up to where it begins to quote. Where
// a connection string falls apart at the wrong places, a piece of the password may be
// taken for a name or a value.
func withoutValues(err error) string {
	message := err.Error()
	if strings.HasPrefix(message, "key ") {
		return "a parameter is given twice"
	}
	if quote := strings.IndexAny(message, "'\""); quote >= 0 {
		message = strings.TrimSpace(message[:quote])
	}
	return message
}
