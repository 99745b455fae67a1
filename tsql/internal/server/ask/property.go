package ask

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

var askedBigInt = value.Type{Type: sqltype.Type{Kind: sqltype.BigInt}}

// propertyFunctions answer for properties of things of the catalog. NULL is the answer for a property that is none.
var propertyFunctions = map[string]Function{
	"OBJECTPROPERTY":     {"is", objectProperty},
	"OBJECTPROPERTYEX":   {"is", objectPropertyEx},
	"COLUMNPROPERTY":     {"iss", columnProperty},
	"INDEXPROPERTY":      {"iss", indexProperty},
	"TYPEPROPERTY":       {"ss", typeProperty},
	"DATABASEPROPERTYEX": {"ss", databaseProperty},
	"SERVERPROPERTY":     {"s", serverProperty},
	"CONNECTIONPROPERTY": {"s", connectionProperty},
	"SESSIONPROPERTY":    {"s", sessionProperty},
}

// flag is 1 or 0 as an int.
func flag(b bool) (int, bool) {
	if b {
		return 1, true
	}
	return 0, true
}

func objectProperty(q *question) (execute.Value, error) {
	n, ok := q.objectFlag()
	if !ok {
		return null, nil
	}
	return intValue(n)
}

func objectPropertyEx(q *question) (execute.Value, error) {
	id, given := q.number(0)
	_, o := q.byID(id, 9)
	if !given || o == nil {
		return null, nil
	}
	if q.word(1) == "BASETYPE" {
		if s, isSynonym := o.(*schema.Synonym); isSynonym {
			if o = q.db().Find(partBefore(s.For), s.For[len(s.For)-1], ""); o == nil {
				return null, nil
			}
		}
		return variant(value.OfString((o.Head().Kind + " ")[:2]), value.Type{Type: sqltype.Type{Kind: sqltype.Char, Length: 2}})
	}
	if t, isTable := o.(*schema.Table); isTable && q.word(1) == "CARDINALITY" && t.Data != nil {
		return variant(value.OfInt(int64(t.Data.Rows())), askedBigInt)
	}
	n, ok := q.objectFlag()
	if !ok {
		return null, nil
	}
	return variantInt(n)
}

// partBefore is the part of a name before the last.
func partBefore(parts []string) string {
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2]
}

// kindProperties are properties that say whether an object is of a kind.
var kindProperties = map[string][]string{
	"ISTABLE": {"U", "TT"}, "ISUSERTABLE": {"U"}, "ISVIEW": {"V"}, "ISPROCEDURE": {"P"}, "ISTRIGGER": {"TR"},
	"ISSCALARFUNCTION": {"FN"}, "ISINLINEFUNCTION": {"IF"}, "ISTABLEFUNCTION": {"IF", "TF"},
	"ISCHECKCNST": {"C"}, "ISDEFAULTCNST": {"D"}, "ISDEFAULT": {"D"}, "ISFOREIGNKEY": {"F"}, "ISPRIMARYKEY": {"PK"},
	"ISUNIQUECNST": {"UQ"}, "ISCONSTRAINT": {"C", "D", "F", "PK", "UQ"}, "ISSYSTEMTABLE": {}, "ISEXTENDEDPROC": {},
	"ISREPLPROC": {}, "ISRULE": {}, "ISQUEUE": {}, "ISMSSHIPPED": {}, "ISENCRYPTED": {},
	"ISEXECUTED": {"V", "P", "TR", "FN", "IF", "TF"},
}

// objectFlag answers OBJECTPROPERTY(id, property).
func (q *question) objectFlag() (int, bool) {
	id, given := q.number(0)
	_, o := q.byID(id, 9)
	if !given || o == nil {
		return 0, false
	}
	property := q.word(1)
	if kinds, ok := kindProperties[property]; ok {
		return flag(slices.Contains(kinds, o.Head().Kind))
	}
	switch property {
	case "OWNERID":
		return int(schema.OwnerOf(o).ID), true
	case "SCHEMAID":
		return int(o.Head().Schema.ID), true
	}
	switch o := o.(type) {
	case *schema.Table:
		return tableFlag(o, property)
	case *schema.Module:
		return moduleFlag(o, property)
	case *schema.Check:
		return constraintFlag(property, o.Disabled, o.Untrusted)
	case *schema.ForeignKey:
		return constraintFlag(property, o.Disabled, o.Untrusted)
	case *schema.Key:
		if property == "CNSTISCLUSTKEY" {
			return flag(o.Index.Clustered)
		}
		if property == "CNSTISNONCLUSTKEY" {
			return flag(!o.Index.Clustered)
		}
	}
	return 0, false
}

func constraintFlag(property string, disabled, untrusted bool) (int, bool) {
	switch property {
	case "CNSTISDISABLED":
		return flag(disabled)
	case "CNSTISNOTTRUSTED":
		return flag(untrusted)
	case "CNSTISCOLUMN", "CNSTISDELETECASCADE", "CNSTISUPDATECASCADE", "CNSTISNOTREPL":
		return 0, true
	}
	return 0, false
}

// tableFlag answers the properties of tables.
func tableFlag(t *schema.Table, property string) (int, bool) {
	hasTrigger := func(event string) bool {
		return slices.ContainsFunc(t.Triggers, func(m *schema.Module) bool {
			def, ok := m.Stmt.(*syntax.CreateTrigger)
			return ok && (event == "" || slices.Contains(def.Events, event))
		})
	}
	switch property {
	case "TABLEHASIDENTITY":
		return flag(t.Identity != nil)
	case "TABLEHASPRIMARYKEY":
		return flag(t.PrimaryKey() != nil)
	case "TABLEHASCLUSTINDEX":
		return flag(t.Clustered() != nil)
	case "TABLEHASINDEX":
		return flag(slices.ContainsFunc(t.Indexes, func(ix *schema.Index) bool { return ix.ID != 0 }))
	case "TABLEHASNONCLUSTINDEX":
		return flag(slices.ContainsFunc(t.Indexes, func(ix *schema.Index) bool { return ix.ID > 1 }))
	case "TABLEHASUNIQUECNST":
		return flag(slices.ContainsFunc(t.Keys, func(k *schema.Key) bool { return !k.Primary }))
	case "TABLEHASCHECKCNST":
		return flag(len(t.Checks) > 0)
	case "TABLEHASDEFAULTCNST":
		return flag(len(t.Defaults) > 0)
	case "TABLEHASFOREIGNKEY":
		return flag(len(t.ForeignKeys) > 0)
	case "TABLEHASFOREIGNREF":
		return flag(len(t.Referrers) > 0)
	case "TABLEHASROWGUIDCOL":
		return flag(slices.ContainsFunc(t.Columns, func(c *schema.Column) bool { return c.RowGUID }))
	case "TABLEHASTIMESTAMP":
		return flag(t.RowVersionColumn() != nil)
	case "TABLEHASDELETETRIGGER":
		return flag(hasTrigger("DELETE"))
	case "TABLEHASINSERTTRIGGER":
		return flag(hasTrigger("INSERT"))
	case "TABLEHASUPDATETRIGGER":
		return flag(hasTrigger("UPDATE"))
	case "TABLEHASTEXTIMAGE":
		return flag(slices.ContainsFunc(t.Columns, func(c *schema.Column) bool { return c.Type.IsLOB() }))
	case "TABLETEMPORALTYPE":
		switch {
		case t.HistoryOf != nil:
			return 1, true
		case t.History != nil:
			return 2, true
		}
		return 0, true
	case "TABLEISFAKE", "TABLEISPINNED", "TABLEHASCOLUMNSET", "TABLEHASVARDECIMALSTORAGEFORMAT":
		return 0, true
	}
	return 0, false
}

// moduleFlag answers the properties of procedures, functions, views and triggers.
func moduleFlag(m *schema.Module, property string) (int, bool) {
	trigger, isTrigger := m.Stmt.(*syntax.CreateTrigger)
	fires := func(event string) (int, bool) { return flag(isTrigger && slices.Contains(trigger.Events, event)) }
	switch property {
	case "EXECISQUOTEDIDENTON":
		return flag(m.QuotedIdentifier)
	case "EXECISANSINULLSON":
		return flag(m.AnsiNulls)
	case "EXECISINSERTTRIGGER":
		return fires("INSERT")
	case "EXECISUPDATETRIGGER":
		return fires("UPDATE")
	case "EXECISDELETETRIGGER":
		return fires("DELETE")
	case "EXECISAFTERTRIGGER":
		return flag(isTrigger && !trigger.InsteadOf)
	case "EXECISINSTEADOFTRIGGER":
		return flag(isTrigger && trigger.InsteadOf)
	case "EXECISTRIGGERDISABLED":
		return flag(m.Disabled)
	case "ISSCHEMABOUND":
		return flag(schemaBound(m.Stmt))
	case "ISDETERMINISTIC", "ISPRECISE", "ISSYSTEMVERIFIED", "EXECISSTARTUP", "EXECISFIRSTINSERTTRIGGER",
		"EXECISLASTINSERTTRIGGER", "ISINDEXABLE", "ISINDEXED":
		return 0, true
	}
	return 0, false
}

// schemaBound reports whether a module says WITH SCHEMABINDING.
func schemaBound(stmt syntax.Stmt) bool {
	var options []syntax.Option
	switch s := stmt.(type) {
	case *syntax.CreateView:
		options = s.Options
	case *syntax.CreateFunction:
		options = s.Options
	case *syntax.CreateProcedure:
		options = s.Options
	}
	return syntax.HasOption(options, "SCHEMABINDING")
}

func columnProperty(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	name, given := q.text(1)
	t := q.table(id)
	if !ok || !given || t == nil {
		return null, nil
	}
	c := t.Column(name, q.db().Fold)
	if c == nil {
		return null, nil
	}
	n, known := columnFlag(t, c, q.word(2))
	if !known {
		return null, nil
	}
	return intValue(n)
}

// columnFlag answers the properties of columns.
func columnFlag(t *schema.Table, c *schema.Column, property string) (int, bool) {
	switch property {
	case "ALLOWSNULL":
		return flag(c.Nullable)
	case "COLUMNID":
		return int(c.ID), true
	case "ORDINAL":
		return c.Ordinal + 1, true
	case "ISCOMPUTED":
		return flag(c.Computed != nil)
	case "ISIDENTITY":
		return flag(c.Identity)
	case "ISROWGUIDCOL":
		return flag(c.RowGUID)
	case "ISSPARSE":
		return flag(c.Sparse)
	case "ISPRECISE", "ISDETERMINISTIC", "ISINDEXABLE":
		return flag(c.Computed == nil && !c.Type.IsLOB() || c.Stored)
	case "PRECISION":
		if c.Type.IsCharacter() || c.Type.IsBinary() {
			return c.Type.Length, true
		}
		return schema.Precision(c.Type), true
	case "SCALE":
		if c.Type.IsCharacter() || c.Type.IsBinary() {
			return 0, false
		}
		return schema.Scale(c.Type), true
	case "CHARMAXLEN":
		if !c.Type.IsCharacter() && !c.Type.IsBinary() {
			return 0, false
		}
		return c.Type.Length, true
	case "ISHIDDEN":
		return flag(c.Hidden)
	case "GENERATEDALWAYSTYPE":
		return slices.Index([]string{"", "ROW START", "ROW END"}, c.Generated), true
	case "ISFULLTEXTINDEXED", "ISIDNOTFORREPL", "ISXMLINDEXABLE", "ISCOLUMNSET",
		"ISOUTPARAM", "SYSTEMDATAACCESS", "USERDATAACCESS", "FULLTEXTTYPECOLUMN", "STATISTICALSEMANTICS":
		return 0, true
	case "USESANSITRIM":
		return 1, true
	case "ISCURSORTYPE":
		return 0, false
	}
	_ = t
	return 0, false
}

func indexProperty(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	name, given := q.text(1)
	t := q.table(id)
	if !ok || !given || t == nil {
		return null, nil
	}
	ix := t.Index(name, q.db().Fold)
	if ix == nil {
		return null, nil
	}
	n, known := indexFlag(ix, q.word(2))
	if !known {
		return null, nil
	}
	return intValue(n)
}

// indexFlag answers the properties of indexes.
func indexFlag(ix *schema.Index, property string) (int, bool) {
	switch property {
	case "INDEXID":
		return int(ix.ID), true
	case "ISCLUSTERED":
		return flag(ix.Clustered)
	case "ISUNIQUE":
		return flag(ix.Unique)
	case "ISDISABLED":
		return flag(ix.Disabled)
	case "ISPAGELOCKDISALLOWED":
		return flag(!ix.PageLocks)
	case "ISROWLOCKDISALLOWED":
		return flag(!ix.RowLocks)
	case "ISPADINDEX":
		return flag(strings.EqualFold(ix.Options["PAD_INDEX"], "ON"))
	case "INDEXDEPTH":
		return 1, true
	case "INDEXFILLFACTOR", "ISAUTOSTATISTICS", "ISSTATISTICS", "ISFULLTEXTKEY", "ISHYPOTHETICAL", "ISCOLUMNSTORE",
		"ISOPTIMIZEDFORARRAYACCESS":
		return 0, true
	}
	return 0, false
}

func typeProperty(q *question) (execute.Value, error) {
	id, err := typeID(q)
	if err != nil || id.IsNull() {
		return null, err
	}
	property := q.word(1)
	for _, t := range schema.SystemTypes {
		if int64(t.UserID) == id.Int() {
			return typeAnswer(property, t.Nullable, t.Precision, t.Scale)
		}
	}
	u := q.db().TypeByID(int32(id.Int()))
	if property == "OWNERID" {
		return intValue(schema.OwnerOfType(u).ID)
	}
	return typeAnswer(property, u.Nullable, schema.Precision(u.Type), schema.Scale(u.Type))
}

func typeAnswer(property string, nullable bool, precision, scale int) (execute.Value, error) {
	switch property {
	case "ALLOWSNULL":
		return boolValue(nullable)
	case "PRECISION":
		return intValue(precision)
	case "SCALE":
		return intValue(scale)
	case "USESANSITRIM":
		return intValue(1)
	case "OWNERID":
		return intValue(4)
	default:
		return null, nil
	}
}

func databaseProperty(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	db := q.server().Database(name)
	if !ok || db == nil {
		return null, nil
	}
	switch property := q.word(1); property {
	case "COLLATION":
		return variantText(db.Collation.Name)
	case "STATUS":
		return variantText("ONLINE")
	case "UPDATEABILITY":
		return variantText("READ_WRITE")
	case "USERACCESS":
		return variantText("MULTI_USER")
	case "ISOPTIMIZEDLOCKINGON":
		return variantBool(db.OptimizedLocking)
	case "RECOVERY":
		if r := db.Options["RECOVERY"]; r != "" {
			return variantText(r)
		}
		return variantText("FULL")
	case "VERSION":
		return variantInt(957)
	case "EDITION":
		return null, nil
	case "COMPARISONSTYLE":
		return variantInt(196609)
	case "LCID":
		return variantInt(1033)
	case "SQLSORTORDER":
		return variantInt(52)
	case "ISNULLCONCAT", "ISANSINULLDEFAULT", "ISANSINULLSENABLED", "ISANSIPADDINGENABLED", "ISANSIWARNINGSENABLED",
		"ISARITHMETICABORTENABLED", "ISQUOTEDIDENTIFIERSENABLED", "ISAUTOCLOSE", "ISAUTOSHRINK", "ISINSTANDBY",
		"ISNUMERICROUNDABORTENABLED", "ISPUBLISHED", "ISRECURSIVETRIGGERSENABLED", "ISSUBSCRIBED",
		"ISSYNCWITHBACKUP", "ISMERGEPUBLISHED", "ISCLONE", "ISVERIFIEDCLONE", "ISFULLTEXTENABLED":
		return variantInt(0)
	case "ISLOCALCURSORSDEFAULT":
		return variantBool(db.Options["CURSOR_DEFAULT"] == "LOCAL")
	case "ISAUTOCREATESTATISTICS", "ISAUTOUPDATESTATISTICS", "ISPARAMETERIZATIONFORCED":
		return variantBool(property != "ISPARAMETERIZATIONFORCED")
	default:
		return null, nil
	}
}

// What the server says it is: SQL Server 2022 without updates, in the edition for developers.
const (
	productVersion = "16.0.1000.6"
	productMajor   = "16"
	edition        = "Developer Edition (64-bit)"
	versionText    = "Microsoft SQL Server 2022 (tsqltest) - 16.0.1000.6 (X64) \n\tAn in-process server for tests\n\t" +
		edition + "\n"
)

func serverProperty(q *question) (execute.Value, error) {
	switch q.word(0) {
	case "PRODUCTVERSION":
		return variantText(productVersion)
	case "PRODUCTMAJORVERSION":
		return variantText(productMajor)
	case "PRODUCTMINORVERSION":
		return variantText("0")
	case "PRODUCTBUILD":
		return variantText("1000")
	case "PRODUCTLEVEL":
		return variantText("RTM")
	case "EDITION":
		return variantText(edition)
	case "EDITIONID":
		return variant(value.OfInt(-2117995310), askedBigInt)
	case "ENGINEEDITION":
		return variantInt(3)
	case "COLLATION":
		return variantText(q.server().Collation.Name)
	case "SERVERNAME", "MACHINENAME", "COMPUTERNAMEPHYSICALNETBIOS":
		return variantText(q.session().Info("SERVER_NAME").Str())
	case "INSTANCENAME", "PRODUCTUPDATELEVEL", "PRODUCTUPDATEREFERENCE", "INSTANCEDEFAULTBACKUPPATH":
		return null, nil
	case "LICENSETYPE":
		return variantText("DISABLED")
	case "LCID":
		return variantInt(1033)
	case "COMPARISONSTYLE":
		return variantInt(196609)
	case "SQLCHARSET":
		return variant(value.OfInt(1), value.Type{Type: sqltype.Type{Kind: sqltype.TinyInt}})
	case "SQLCHARSETNAME":
		return variantText("iso_1")
	case "SQLSORTORDER":
		return variant(value.OfInt(52), value.Type{Type: sqltype.Type{Kind: sqltype.TinyInt}})
	case "SQLSORTORDERNAME":
		return variantText("nocase_iso")
	case "ISCLUSTERED", "ISHADRENABLED", "ISINTEGRATEDSECURITYONLY", "ISSINGLEUSER", "ISLOCALDB", "ISXTPSUPPORTED",
		"ISADVANCEDANALYTICSINSTALLED", "ISBIGDATACLUSTER", "ISFULLTEXTINSTALLED", "ISPOLYBASEINSTALLED",
		"ISTEMPDBMETADATAMEMORYOPTIMIZED", "ISEXTERNALAUTHENTICATIONONLY", "ISEXTERNALGOVERNANCEENABLED",
		"FILESTREAMCONFIGUREDLEVEL", "FILESTREAMEFFECTIVELEVEL":
		return variantInt(0)
	default:
		return null, nil
	}
}

func connectionProperty(q *question) (execute.Value, error) {
	switch q.word(0) {
	case "NET_TRANSPORT", "PHYSICAL_NET_TRANSPORT":
		return variantText("TCP")
	case "PROTOCOL_TYPE":
		return variantText("TSQL")
	case "AUTH_SCHEME":
		return variantText("SQL")
	default:
		return null, nil
	}
}

func sessionProperty(q *question) (execute.Value, error) {
	switch name := q.word(0); name {
	case "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "NUMERIC_ROUNDABORT",
		"QUOTED_IDENTIFIER":
		return variantBool(q.session().Option(name) == "ON")
	default:
		return null, nil
	}
}
