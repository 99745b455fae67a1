package define

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// mayMakeDatabases reports whether the login may create databases.
func (d *definer) mayMakeDatabases() bool { return d.Login().Sysadmin || d.Login().Roles["dbcreator"] }

// createDatabase executes CREATE DATABASE.
func (d *definer) createDatabase(s *syntax.CreateDatabase) error {
	if err := d.outside("CREATE DATABASE"); err != nil {
		return err
	}
	name := s.Name.Value
	switch {
	case !d.mayMakeDatabases():
		return fault.New(262, "CREATE DATABASE", "master")
	case d.Server().Database(name) != nil:
		return fault.New(1801, name)
	}
	if err := checkName(name); err != nil {
		return err
	}
	collation := d.Server().Collation
	if s.Collation != "" {
		found, ok := value.CollationByName(s.Collation)
		if !ok {
			return value.UnknownCollation(s.Collation)
		}
		collation = found
	}
	db := d.Server().NewDatabase(name, collation, d.Login(), datetime(d.Now()))
	d.Server().AddDatabase(db)
	server := d.Server()
	d.undo(func() { server.RemoveDatabase(db) })
	return nil
}

// outside returns error 226 for a statement that cannot stand in a transaction of the user's.
func (d *definer) outside(what string) error {
	if d.InTransaction() {
		return fault.New(226, what)
	}
	return nil
}

// alterDatabase executes ALTER DATABASE.
func (d *definer) alterDatabase(s *syntax.AlterDatabase) error {
	if err := d.outside("ALTER DATABASE"); err != nil {
		return err
	}
	db := d.Database()
	if s.Name != nil {
		db = d.Server().Database(s.Name.Value)
	}
	if db == nil || !d.mayAlterDatabase(db) {
		name := ""
		if s.Name != nil {
			name = s.Name.Value
		}
		return followed(fault.New(5011, name), 5069)
	}
	d.db = db
	switch {
	case s.NewName != nil:
		return d.renameDatabase(db, s.NewName.Value)
	case s.Collation != "":
		return d.collateDatabase(db, s)
	}
	if db.SingleUser && d.InUse(db) {
		return followed(fault.New(5064, db.Name), 5069)
	}
	for _, o := range s.Options {
		if err := d.databaseOption(db, o, s); err != nil {
			return err
		}
	}
	return nil
}

// mayAlterDatabase reports whether the session may change a database.
func (d *definer) mayAlterDatabase(db *schema.Database) bool {
	user := db.UserOf(d.Login())
	if db == d.Database() {
		user = d.Principal()
	}
	return user != nil && db.May(user, "ALTER", schema.Securable{Class: "DATABASE"})
}

// renameDatabase executes MODIFY NAME.
func (d *definer) renameDatabase(db *schema.Database, name string) error {
	switch {
	case db.IsSystem():
		return fault.New(5008)
	case d.Server().Database(name) != nil:
		return fault.New(1801, name)
	case d.InUse(db):
		return followed(fault.New(5030), 5069)
	}
	server, old := d.Server(), db.Name
	rename := func(to string) {
		server.RemoveDatabase(db)
		db.Name = to
		server.AddDatabase(db)
	}
	rename(name)
	d.undo(func() { rename(old) })
	return nil
}

// collateDatabase executes ALTER DATABASE … COLLATE, for a database in which there is nothing: names and columns would
// have to be looked at anew.
func (d *definer) collateDatabase(db *schema.Database, s *syntax.AlterDatabase) error {
	found, ok := value.CollationByName(s.Collation)
	switch {
	case !ok:
		return value.UnknownCollation(s.Collation)
	case len(db.Objects) > 0 || len(db.Types) > 0:
		return d.unsupported(s.Span, "another collation for a database that is not empty")
	}
	old := db.Collation
	db.Recollate(found)
	d.undo(func() { db.Recollate(old) })
	return nil
}

// levels are the compatibility levels that SQL Server 2022 has. This server knows those from firstLevel on: before
// that, some functions are not there.
var levels = []int{100, 110, 120, 130, 140, 150, 160}

const firstLevel = 130

// recovery is the option that optimized locking needs.
const recovery = "ACCELERATED_DATABASE_RECOVERY"

// inert are options of databases that say how a server stores or watches, which changes no result.
var inert = map[string]bool{
	"RECOVERY": true, "AUTO_CLOSE": true, "AUTO_SHRINK": true, "AUTO_CREATE_STATISTICS": true,
	"AUTO_UPDATE_STATISTICS": true, "AUTO_UPDATE_STATISTICS_ASYNC": true, "PAGE_VERIFY": true, "QUERY_STORE": true,
	"ONLINE": true, "READ_WRITE": true, "DELAYED_DURABILITY": true, "TRUSTWORTHY": true,
	"DB_CHAINING": true, "ENABLE_BROKER": true, "DISABLE_BROKER": true, "TARGET_RECOVERY_TIME": true,
	recovery: true, "AUTOMATIC_TUNING": true, "PARAMETERIZATION": true,
}

// trusting are those that, if they are ON, give users of this database rights in others.
var trusting = map[string]bool{"TRUSTWORTHY": true, "DB_CHAINING": true}

// alone returns once no other session is in a database. The statement says what becomes of the others: without a word
// it waits for them to go, for as long as LOCK_TIMEOUT says.
func (d *definer) alone(db *schema.Database, s *syntax.AlterDatabase) error {
	if !d.InUse(db) {
		return nil
	}
	switch s.Termination {
	case "ROLLBACK IMMEDIATE":
		return d.EndOthers(db, 0)
	case "ROLLBACK AFTER":
		seconds, err := strconv.ParseInt(s.Seconds, 10, 32)
		if err != nil || seconds < 0 {
			return fault.New(102, s.Seconds)
		}
		return d.EndOthers(db, time.Duration(seconds)*time.Second)
	case "NO_WAIT":
		return followed(fault.New(5070, db.Name), 5069)
	}
	inTime, err := d.AwaitOthers(db)
	if err == nil && !inTime {
		return followed(fault.New(5061, db.Name), 5069)
	}
	return err
}

// databaseOption executes one element of ALTER DATABASE … SET.
func (d *definer) databaseOption(db *schema.Database, o syntax.Option, s *syntax.AlterDatabase) error {
	v := strings.TrimSpace(o.Value)
	isOn := v == "ON"
	switch o.Name {
	case "READ_COMMITTED_SNAPSHOT":
		if db.IsSystem() {
			return followed(fault.New(5058, o.Name, db.Name), 5069)
		}
		if isOn != db.ReadCommittedSnapshot {
			if err := d.alone(db, s); err != nil {
				return err
			}
		}
		set(d, &db.ReadCommittedSnapshot, isOn)
	case "OPTIMIZED_LOCKING":
		return d.optimizedLocking(db, o, s, isOn)
	case "SINGLE_USER":
		if db.IsSystem() {
			return followed(fault.New(5058, o.Name, db.Name), 5069)
		}
		if err := d.alone(db, s); err != nil {
			return err
		}
		set(d, &db.SingleUser, true)
	case "CURSOR_CLOSE_ON_COMMIT":
		if isOn {
			return d.unsupported(o.Span, "ALTER DATABASE … SET CURSOR_CLOSE_ON_COMMIT ON")
		}
	case "CURSOR_DEFAULT":
		options := clone(db.Options)
		options[o.Name] = v
		set(d, &db.Options, options)
	case "MULTI_USER":
		set(d, &db.SingleUser, false)
	case "ALLOW_SNAPSHOT_ISOLATION":
		set(d, &db.AllowSnapshot, isOn)
	case "COMPATIBILITY_LEVEL":
		return d.compatibility(db, o, v)
	default:
		if o.Name == recovery && !isOn && db.OptimizedLocking {
			return d.unsupported(o.Span, "ACCELERATED_DATABASE_RECOVERY = OFF with OPTIMIZED_LOCKING = ON")
		}
		if !inert[o.Name] || isOn && trusting[o.Name] {
			return d.unsupported(o.Span, "ALTER DATABASE … SET "+o.Name)
		}
		options := clone(db.Options)
		options[o.Name] = v
		set(d, &db.Options, options)
	}
	return nil
}

// optimizedLocking executes SET OPTIMIZED_LOCKING, which needs accelerated database recovery.
func (d *definer) optimizedLocking(db *schema.Database, o syntax.Option, s *syntax.AlterDatabase, on bool) error {
	if db.IsSystem() {
		return followed(fault.New(5058, o.Name, db.Name), 5069)
	}
	if on && db.Options[recovery] != "ON" {
		return d.unsupported(o.Span, "OPTIMIZED_LOCKING = ON without ACCELERATED_DATABASE_RECOVERY = ON")
	}
	if on != db.OptimizedLocking {
		if err := d.alone(db, s); err != nil {
			return err
		}
	}
	set(d, &db.OptimizedLocking, on)
	return nil
}

// compatibility executes SET COMPATIBILITY_LEVEL.
func (d *definer) compatibility(db *schema.Database, o syntax.Option, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || !slices.Contains(levels, n) {
		valid := fault.New(15048, "100, 110, 120, 130, 140, 150, or 160")
		valid.Class = 16
		return valid
	}
	if n < firstLevel {
		return d.unsupported(o.Span, "the compatibility level "+text)
	}
	set(d, &db.CompatibilityLevel, n)
	return nil
}

// dropDatabases executes DROP DATABASE.
func (d *definer) dropDatabases(s *syntax.Drop) error {
	if err := d.outside("DROP DATABASE"); err != nil {
		return err
	}
	for _, name := range s.Names {
		db := d.Server().Database(name.Last().Value)
		switch {
		case db == nil && s.IfExists:
			continue
		case db == nil, !d.mayMakeDatabases() && !d.mayAlterDatabase(db):
			return fault.New(3701, "drop", "database", name.Last().Value)
		case db.IsSystem():
			return fault.New(3708, "drop", "database", db.Name, "database")
		case db == d.Database() || d.InUse(db):
			return fault.New(3702, db.Name)
		}
		server := d.Server()
		server.RemoveDatabase(db)
		d.undo(func() { server.AddDatabase(db) })
	}
	return nil
}

// dbcc executes DBCC. Only CHECKIDENT changes something here; the others are about pages and caches.
func (d *definer) dbcc(s *syntax.DBCC) error {
	switch s.Command {
	case "CHECKIDENT":
		return d.checkIdent(s)
	case "FREEPROCCACHE", "DROPCLEANBUFFERS", "FREESESSIONCACHE", "FREESYSTEMCACHE", "TRACEON", "TRACEOFF", "UPDATEUSAGE":
		if !syntax.HasOption(s.Options, "NO_INFOMSGS") {
			d.Message(2528, 10, "DBCC execution completed. If DBCC printed error messages, contact your system administrator.")
		}
		return nil
	default:
		return d.unsupported(s.Span, "DBCC "+s.Command)
	}
}

// checkIdent executes DBCC CHECKIDENT. Unlike other changes of an identity column's counter, RESEED can be rolled back.
func (d *definer) checkIdent(s *syntax.DBCC) error {
	if len(s.Args) == 0 {
		return fault.New(2560, 1)
	}
	name, err := argument(s.Args[0])
	if err != nil {
		return d.unsupported(s.Span, "this argument of DBCC CHECKIDENT")
	}
	n, findings := parseName(name)
	if findings {
		return fault.New(2501, name)
	}
	o, err := d.claim(n)
	if err != nil {
		return err
	}
	t, ok := o.(*schema.Table)
	switch {
	case !ok || !d.mayObject("ALTER", t):
		return fault.New(2501, name)
	case t.Identity == nil:
		return fault.New(7997, name)
	}
	before := "NULL"
	if t.Identity.Last != nil {
		before = strconv.FormatInt(*t.Identity.Last, 10)
	}
	if len(s.Args) < 3 {
		return d.correctIdentity(t, s, before)
	}
	text, err := argument(s.Args[2])
	if err != nil {
		return d.unsupported(s.Span, "this argument of DBCC CHECKIDENT")
	}
	to, isNumber := new(big.Int).SetString(text, 10)
	if !isNumber || !to.IsInt64() {
		return fault.New(2560, 3)
	}
	if !syntax.HasOption(s.Options, "NO_INFOMSGS") {
		d.Message(7998, 10, "Checking identity information: current identity value '"+before+"'.")
	}
	next := *t.Identity
	next.Reseed(to.Int64())
	set(d, t.Identity, next)
	return nil
}

// correctIdentity brings the counter up to the greatest value in the table, unless NORESEED is said.
func (d *definer) correctIdentity(t *schema.Table, s *syntax.DBCC, before string) error {
	b := d.newBuilder(t)
	rows, err := b.rows()
	if err != nil {
		return err
	}
	found, column := int64(math.MinInt64), "NULL"
	for _, values := range rows {
		if v, err := value.Convert(values[t.Identity.Column], t.Columns[t.Identity.Column].Type, bigInt, 0); err == nil {
			found = max(found, v.Int())
			column = strconv.FormatInt(found, 10)
		}
	}
	if !syntax.HasOption(s.Options, "NO_INFOMSGS") {
		message := fault.New(7998, before, column)
		d.Message(message.Number, 10, message.Message)
	}
	noReseed := false
	if len(s.Args) > 1 {
		word, err := argument(s.Args[1])
		noReseed = err == nil && strings.EqualFold(word, "NORESEED")
	}
	if len(rows) > 0 && !noReseed && t.Identity.Last != nil && *t.Identity.Last < found {
		next := *t.Identity
		next.Reseed(found)
		set(d, t.Identity, next)
	}
	return nil
}
