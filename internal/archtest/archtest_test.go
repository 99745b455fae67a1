package archtest

import (
	"context"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/duroxide/duroxide-go"
)

// table says who may import what. The first part goes through the tree bottom-up and lists what each folder may import;
// the second bans single things wherever they come from.
var table = []Rule{
	{
		From:      Set{"./sql/..."},
		Forbidden: anythingBut("std"),
		Reach:     Directly,
		Why:       "sql/ is the SQL itself; its only Go hands the scripts out as embedded files",
	},
	{
		From:      Set{"./gen/...", "!./gen/mssqldb"},
		Forbidden: anythingBut("std"),
		Reach:     Directly,
		Why:       "generated code is typed calls on database/sql; knowledge of the contract belongs in a store",
	},
	{
		From: Set{"./gen/mssqldb"},
		// The two others are the driver's own types for dates without a zone and exact numbers.
		Forbidden: anythingBut("std", "github.com/microsoft/go-mssqldb",
			"github.com/golang-sql/civil", "github.com/shopspring/decimal"),
		Reach: Directly,
		Why: "generated calls of procedures take the driver's types, since database/sql has none for table-valued " +
			"parameters and error numbers; knowledge of the contract belongs in a store",
	},
	{
		From:      Set{"./provider"},
		Forbidden: append(anythingBut("std"), "database/sql/..."),
		Reach:     Directly,
		Why:       "the contract is shared by every store and the runtime, so what it imports is forced on all of them",
	},
	{
		From:      Set{"./provider/providertest", "./provider/providerfault", "./provider/adapt"},
		Forbidden: anythingBut("std", "./provider", "./provider/adapt"),
		Reach:     Directly,
		Why:       "these are for any store, a stranger's too, so they know the contract and nothing else",
	},
	{
		From:      Set{"./provider/internal/..."},
		Forbidden: anythingBut("std", "./provider"),
		Reach:     Directly,
		Why:       "what the stores share is about neither of them, and knows no SQL",
	},
	{
		From: Set{"./provider/sqlite"},
		Forbidden: anythingBut("std", "./provider", "./gen/sqlitedb", "./sql/...", "./provider/internal/...", "./internal/clock",
			"modernc.org/sqlite/...", "github.com/google/uuid"),
		Reach: Directly,
		Why:   "a store adapts generated calls to the contract; it knows neither the runtime nor another store",
	},
	{
		From: Set{"./provider/mssql"},
		Forbidden: anythingBut("std", "./provider", "./gen/mssqldb", "./provider/mssql/migrate", "./provider/internal/...", "./internal/clock",
			"github.com/microsoft/go-mssqldb/...", "github.com/google/uuid"),
		Reach: Directly,
		Why:   "a store adapts generated calls to the contract; it knows neither the runtime nor another store",
	},
	{
		From:      Set{"./provider/mssql/migrate"},
		Forbidden: anythingBut("std", "./sql", "./gen/mssqldb", "./internal/clock"),
		Reach:     Directly,
		Why:       "a program that only migrates links no store, and the migrator's reads are generated calls like the store's",
	},
	{
		From:      Set{"./..."},
		Forbidden: Set{"github.com/microsoft/go-mssqldb/azuread", "github.com/Azure/...", "github.com/AzureAD/..."},
		Reach:     Transitively,
		Why:       "the libraries of Entra ID are many times as large as the store; the module provider/mssql/azuread links them, for who asks",
	},
	{
		From: Set{"./provider/mssql/mssqltest"},
		Forbidden: anythingBut("std", "./provider/mssql/migrate", "./tsql/leaktest", "./tsql/tsqltest",
			"github.com/microsoft/go-mssqldb/..."),
		Reach: Directly,
		Why:   "tests of any package get a server and a schema here, so it must not import what they test, but the migration that makes a schema",
	},
	{
		From:      Set{"./provider/mssql/internal/interleave"},
		Forbidden: anythingBut("std", "./provider/mssql/migrate", "./sql", "./tsql/tsqltest"),
		Reach:     Directly,
		Why:       "the scenarios call the store's procedures as they are in a schema, without the store's Go around them",
	},
	{
		From:      Set{"./provider/providertest/linear"},
		Forbidden: anythingBut("std", "./provider"),
		Reach:     Directly,
		Why:       "it judges any store by the contract's model, and so knows the contract and no store",
	},
	{
		From:      Set{"./cmd/duroxide/internal/program"},
		Forbidden: anythingBut("std", "./tsql/leaktest"),
		Reach:     Directly,
		Why:       "any command's tests may start the command, so it knows none of them",
	},
	{
		From:      Set{"./internal/testsupport/racing"},
		Forbidden: anythingBut("std"),
		Reach:     Directly,
		Why:       "it says how the tests are run, which tests of every package may ask",
	},
	{
		From:      Set{"./tsql/..."},
		Forbidden: Set{"./...", "!./tsql/..."},
		Reach:     Transitively,
		Why:       "the T-SQL toolkit serves anybody's T-SQL and knows nothing of this library, so that it can become a module of its own",
	},
	{
		From:      Set{"./tsql/drift", "./tsql/leaktest", "./tsql/tdsproxy"},
		Forbidden: anythingBut("std"),
		Reach:     Directly,
		Why: "the first compares files, the second looks for goroutines, and the third breaks connections of whatever driver is tested: a " +
			"proxy that shared code with it could share its mistakes",
	},
	{
		From:      Set{"./tsql/internal/...", "!./tsql/internal/server/..."},
		Forbidden: append(anythingBut("std", "./tsql/internal/..."), "./tsql/internal/server/..."),
		Reach:     Directly,
		Why:       "the front end reads the language, for the generator and for the server alike",
	},
	{
		From:      Set{"./tsql/internal/server/..."},
		Forbidden: anythingBut("std", "./tsql/internal/...", "github.com/tidwall/btree", "golang.org/x/text/..."),
		Reach:     Directly,
		Why:       "the engine is checked with the driver, so that it must not share code with it; it takes from others only ordered maps and collations",
	},
	{
		From: Set{"./tsql/internal/server/binder"},
		Forbidden: Set{
			"./tsql/internal/server/...", "!./tsql/internal/server/ask", "!./tsql/internal/server/execute", "!./tsql/internal/server/fault",
			"!./tsql/internal/server/function",
			"!./tsql/internal/server/schema", "!./tsql/internal/server/store", "!./tsql/internal/server/sysview", "!./tsql/internal/server/value",
		},
		Reach: Directly,
		Why:   "what a statement means does not depend on how it runs: no plan, no lock and no session decides about a name, a type or a fault",
	},
	{
		From:      Set{"./tsql/internal/server/planner", "./tsql/internal/server/execute", "./tsql/internal/server/store", "./tsql/internal/server/lock"},
		Forbidden: Set{"./tsql/internal/server/session", "./tsql/internal/server/define", "./tsql/internal/server/request", "./tsql/internal/server/wire"},
		Reach:     Transitively,
		Why:       "a statement is planned and executed for whoever asks; sessions, which run batches of them, stand above",
	},
	{
		From:      Set{"./tsql/internal/server/ask", "./tsql/internal/server/execute", "./tsql/internal/server/store", "./tsql/internal/server/lock"},
		Forbidden: Set{"./tsql/internal/server/binder", "./tsql/internal/server/planner"},
		Reach:     Transitively,
		Why:       "operators are what a planner builds, and know of no plan",
	},
	{
		From:      Set{"./tsql/tsqltest/..."},
		Forbidden: anythingBut("std", "./tsql/...", "github.com/microsoft/go-mssqldb/..."),
		Reach:     Directly,
		Why:       "the public package opens connections to its engine with the driver, and so alone imports it",
	},
	{
		From:      Set{"./tsql/sqlc-gen-tsql/..."},
		Forbidden: append(Set{"./tsql/internal/server/..."}, "github.com/sqlc-dev/sqlc/...", "github.com/golangci/..."),
		Reach:     Directly,
		Why:       "the generator reads T-SQL and executes none, and sqlc and linters are pinned in a module of their own",
	},
	{
		From:      Set{"./...", "!./tsql/...", "!./tools/...", "!./provider/mssql/mssqltest", "!./provider/mssql/internal/interleave"},
		Forbidden: Set{"./tsql/...", "!./tsql/leaktest", "./tools/..."},
		Reach:     Directly,
		Why:       "the library runs the T-SQL that developers' programs have read; it needs no parser and no server at run time",
	},
	{
		From:      Set{"./tools/...", "!./tools/firstday"},
		Forbidden: append(Set{"./...", "!./tools/...", "!./tsql/..."}, "github.com/sqlc-dev/sqlc/...", "github.com/golangci/..."),
		Reach:     Transitively,
		Why:       "a developer's program must build while the library does not, and sqlc and linters are pinned in a module of their own",
	},
	{
		From: Set{"./tools/firstday"},
		Forbidden: anythingBut("std", "./activity", "./client", "./hook", "./orchestration", "./provider", "./provider/mssql",
			"./provider/mssql/migrate", "./worker", "github.com/microsoft/go-mssqldb"),
		Reach: Directly,
		Why:   "it judges a server under the store and the runtime as users have them",
	},
	{
		From:      Set{"./tools/generate", "./tools/fuzz"},
		Forbidden: anythingBut("std", "./tsql/drift", "go.yaml.in/yaml/v3"),
		Reach:     Directly,
		Why:       "these run the go command and what it builds; only the sqlc.yaml has to be read",
	},
	{
		From:      Set{"./internal/...", "!./internal/testsupport/..."},
		Forbidden: anythingBut("std", "./provider", "./failure", "./codec", "./hook", "./internal/clock", "./internal/details", "./internal/history", "./internal/payload", "./internal/registry", "./internal/replay", "./internal/goroutine", "./retry"),
		Reach:     Directly,
		Why:       "an internal package is one idea below the public ones; importing upwards would tie the idea to its user",
	},
	{
		From: Set{"./orchestration/...", "./activity/...", "./worker/...", "./client/..."},
		Forbidden: anythingBut("std", "./provider", "./provider/adapt", "./failure", "./codec", "./hook", "./internal/...", "./orchestration", "./activity", "./retry",
			"./worker/...", "./client", "github.com/google/uuid"),
		Reach: Directly,
		Why:   "what users write against knows stores by the contract, and every library it needs becomes its users'",
	},
	{
		From:      Set{"./worker/internal/outage"},
		Forbidden: anythingBut("std", "./provider", "./internal/clock"),
		Reach:     Directly,
		Why:       "a store is away for all parts of a worker at once, whatever they were calling it for",
	},
	{
		From:      Set{"./worker/internal/leases"},
		Forbidden: anythingBut("std", "./provider"),
		Reach:     Directly,
		Why:       "a lease is renewed in the same way whatever it is of, so that a worker's turns and activities stay unknown here",
	},
	{
		From:      Set{"./worker/internal/taking"},
		Forbidden: anythingBut("std", "./provider", "./worker/internal/outage"),
		Reach:     Directly,
		Why:       "finding work and the calls that settle it are the same for turns and activities, and know neither replay nor code",
	},
	{
		From:      Set{"./worker/internal/turns"},
		Forbidden: anythingBut("std", "./provider", "./internal/history"),
		Reach:     Directly,
		Why:       "what a fetched turn is about is read from its history and messages, before anything is run, asked or written",
	},
	{
		From: Set{"./orchestrationtest"},
		Forbidden: anythingBut("std", "./provider", "./codec", "./internal/...", "./orchestration", "./activity", "./retry",
			"./worker", "./client"),
		Reach: Directly,
		Why:   "a test of an orchestration needs no store, and what the package needs becomes its users'",
	},
	{
		From:      Set{"./hook"},
		Forbidden: anythingBut("std", "./provider"),
		Reach:     Directly,
		Why:       "a hook is written against the contract's words, and a library for traces belongs to who writes one",
	},
	{
		From:      Set{"./codec"},
		Forbidden: anythingBut("std"),
		Reach:     Directly,
		Why:       "what keeps payloads secret is small enough to be reviewed, and knows neither stores nor the runtime",
	},
	{
		From:      Set{"./retry"},
		Forbidden: anythingBut("std"),
		Reach:     Directly,
		Why:       "a policy is plain data, which definitions, calls and workers share",
	},
	{
		From:      Set{"./failure"},
		Forbidden: anythingBut("std", "./internal/payload"),
		Reach:     Transitively,
		Why:       "activities, orchestrations and clients share it, and so does what is below them",
	},
	{
		From:      Set{"./...", "!./orchestration/...", "!./orchestrationtest", "!./activity/...", "!./worker/...", "!./client/...", "!./failure", "!./retry", "!./internal/..."},
		Forbidden: Set{"./internal/details", "./internal/goroutine", "./internal/history", "./internal/payload", "./internal/registry", "./internal/replay", "./internal/sealed"},
		Reach:     Directly,
		Why:       "these are what the runtime's packages share, and nobody else; the seam between them is free to change",
	},
	{
		From:      Set{"./cmd/...", "!./cmd/duroxide/internal/server"},
		Forbidden: Set{"./gen/...", "./sql/..."},
		Reach:     Directly,
		Why: "the command line uses stores and the migrator as everybody does, and what it cannot do through them is missing there; " +
			"only server asks a database what neither of them wants to know",
	},
	{
		From:      Set{"./cmd/duroxide/internal/server"},
		Forbidden: Set{"./gen/sqlitedb", "./sql/..."},
		Reach:     Directly,
		Why:       "it examines SQL Server by generated calls of reviewed queries",
	},
	{
		From:      Set{"./cmd/...", "!./cmd/duroxide/internal/rig", "!./cmd/duroxide/internal/server"},
		Forbidden: Set{"database/sql/..."},
		Reach:     Directly,
		Why: "a store is opened through its package; only the rig talks to a bare database, as the yardstick, " +
			"and server, which examines one",
	},
	{
		From:      Set{"./cmd/duroxide/commandline"},
		Forbidden: anythingBut("std", "./cmd/duroxide/internal/cli", "./codec", "./retry", "./worker", "github.com/microsoft/go-mssqldb"),
		Reach:     Directly,
		Why:       "this is the door through which another main package adds to the command line, and nothing more",
	},
	{
		From:      Set{"./cmd/duroxide/demo"},
		Forbidden: Set{"./cmd/duroxide/internal/cli", "./provider/mssql/...", "github.com/microsoft/go-mssqldb/...", "github.com/spf13/...", "crypto/tls"},
		Reach:     Transitively,
		Why:       "a newcomer's first command compiles the demo from nothing, and it uses SQLite only",
	},
	{
		From:      Set{"./examples/..."},
		Forbidden: Set{"./gen/...", "./sql/...", "./internal/..."},
		Reach:     Directly,
		Why:       "an example shows what a user can write, and a user cannot import these",
	},

	{
		From: Set{"./orchestration/...", "./activity/...", "./worker/...", "./client/...", "./internal/replay", "./internal/history"},
		// Not database/sql/driver: uuid implements an interface of it, and it is nothing but interfaces.
		Forbidden: Set{
			"database/sql", "./gen/...", "./sql/...", "./provider/sqlite", "./provider/mssql",
			"modernc.org/sqlite/...", "github.com/microsoft/go-mssqldb/...",
		},
		Reach: Transitively,
		Why:   "a program links the one store it opens, so the runtime must not bring another one in",
	},
	{
		From:      Set{"./orchestration/...", "./internal/replay", "./internal/history"},
		Forbidden: Set{"crypto/rand", "math/rand/...", "net/...", "os/..."},
		Reach:     Directly,
		Why:       "a replay is a function of the history; what is read from the machine differs the next time",
	},
	{
		From: Set{
			"./...", "!./provider/providertest/...", "!./orchestrationtest", "!./internal/testsupport/...",
			"!./provider/mssql/mssqltest", "!./provider/mssql/internal/interleave", "!./cmd/duroxide/internal/program",
			"!./tsql/tsqltest/...", "!./tsql/tdsproxy", "!./tsql/leaktest", "!./tsql/sqlc-gen-tsql/internal/live/livetest",
		},
		Forbidden: Set{
			"testing/...", "pgregory.net/rapid/...",
			"github.com/google/go-cmp/...", "github.com/stretchr/testify/...", "./internal/testsupport/...",
			"./provider/mssql/mssqltest", "./provider/mssql/internal/interleave", "./cmd/duroxide/internal/program",
		},
		Reach: Transitively,
		Why:   "a test library in a production binary adds its flags to every user's command line",
	},
	{
		From:      Set{"./...", "!./cmd/...", "!./examples/..."},
		Forbidden: Set{"github.com/spf13/..."},
		Reach:     Transitively,
		Why:       "the library must not make its users link a command-line framework",
	},
	{
		From:      Set{"./...", "!./cmd/..."},
		Forbidden: Set{"./cmd/...", "./examples/...", "./internal/archtest"},
		Reach:     Directly,
		Why:       "these stand at the top: nothing is built on them, but a command on its own packages",
	},
}

// planned are the packages that rules already mention and that do not exist yet, each with what will be there.
var planned = map[string]string{}

// load loads the import graph of the module once for all tests.
var load = sync.OnceValues(func() (*Graph, error) {
	return Load(context.Background(), root, module)
})

func loadGraph(t *testing.T) *Graph {
	t.Helper()
	graph, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, problem := range problems {
		t.Error(problem)
	}
}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	graph := loadGraph(t)
	for _, rule := range table {
		report(t, rule.Check(graph))
	}
}

func TestTheTableIsAboutTheTree(t *testing.T) {
	t.Parallel()
	graph := loadGraph(t)
	report(t, Dangling(graph, table, planned))
	report(t, Unruled(graph, table))
}

func TestPackagesHaveTellingNames(t *testing.T) {
	t.Parallel()
	report(t, VagueNames(loadGraph(t)))
}

func TestPackagesHaveAComment(t *testing.T) {
	t.Parallel()
	// sqlc writes no package comment, and a file of ours in gen/ would be a leftover.
	report(t, Undocumented(loadGraph(t), Set{"./gen/..."}))
}
