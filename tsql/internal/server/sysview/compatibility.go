package sysview

import "github.com/duroxide/duroxide-go/tsql/internal/sqltype"

// compatibility are the views of SQL Server 2000, which scripts call dbo.sysobjects or just sysobjects.
var compatibility = map[string]bool{"sysobjects": true, "syscolumns": true, "sysprocesses": true}

// oldObjectRow has the columns of sysobjects. Those that were internal then are what documentation has for them: 0.
var oldObjectRow = getters[object]{
	"id":         objectRow["object_id"],
	"xtype":      objectRow["type"],
	"uid":        objectRow["schema_id"],
	"parent_obj": objectRow["parent_object_id"],
	"crdate":     objectRow["create_date"],
	"refdate":    objectRow["create_date"],
	// The lowest four bits are the kind: scripts of that time ask for sysstat & 0xf = 4, a procedure.
	"sysstat": func(o object) Value {
		return number(map[string]int{"U": 3, "V": 2, "P": 4, "D": 6, "TR": 8}[o.Head().Kind])
	},
	"type": func(o object) Value {
		if kind := o.Head().Kind; kind == "PK" || kind == "UQ" {
			return str("K ")
		}
		return str(objectKind(o.Head()))
	},
}

var oldColumnRow = getters[column]{
	"id":     columnRow["object_id"],
	"xtype":  func(c column) Value { return number(c.typ.systemID()) },
	"type":   func(c column) Value { return number(c.typ.systemID()) },
	"length": func(c column) Value { return number(maxLength(c.typ.Type)) },
	"xprec":  typeGetters[column]()["precision"],
	"xscale": typeGetters[column]()["scale"],
	"colid":  columnRow["column_id"],
	"colstat": func(c column) Value { // 1 is an identity, 4 a computed column
		switch {
		case c.of == nil:
			return number(0)
		case c.of.Identity:
			return number(1)
		case c.of.Computed != nil:
			return number(4)
		default:
			return number(0)
		}
	},
	"cdefault":   columnRow["default_object_id"],
	"colorder":   columnRow["column_id"],
	"xusertype":  func(c column) Value { return number(c.typ.userID()) },
	"usertype":   func(c column) Value { return number(c.typ.userID()) },
	"iscomputed": columnRow["is_computed"],
	"isnullable": columnRow["is_nullable"],
	"collation":  columnRow["collation_name"],
	"prec": func(c column) Value {
		switch t := c.typ.Type.Type; {
		case t.IsCharacter() || t.IsBinary() && t.Kind != sqltype.RowVersion:
			return number(t.Length)
		default:
			return typeGetters[column]()["precision"](c)
		}
	},
	"scale": func(c column) Value {
		if c.typ.IsNumeric() && !c.typ.IsApproximate() {
			return typeGetters[column]()["scale"](c)
		}
		return Value{}
	},
}

func compatibilityViews() []*View {
	return []*View{
		relation("sys.sysobjects", `
			name sysname, id int, xtype char(2), uid smallint?, info smallint? = 0, status int? = 0
			base_schema_ver int? = 0, replinfo int? = 0, parent_obj int, crdate datetime, ftcatid smallint? = 0
			schema_ver int? = 0, stats_schema_ver int? = 0, type char(2)?, userstat smallint? = 0, sysstat smallint?
			indexdel smallint? = 0, refdate datetime, version int? = 0, deltrig int? = 0, instrig int? = 0, updtrig int? = 0
			seltrig int? = 0, category int? = 0, cache smallint? = 0`, listObjects(), objectRow, oldObjectRow),
		relation("sys.syscolumns", `
			name sysname?, id int, xtype tinyint, typestat tinyint? = 0, xusertype smallint?, length smallint, xprec tinyint
			xscale tinyint, colid smallint?, xoffset smallint? = 0, bitpos tinyint? = 0, reserved tinyint? = 0
			colstat smallint?, cdefault int, domain int? = 0, number smallint? = 0, colorder smallint?
			autoval varbinary(8000)? = NULL, offset smallint? = 0, collationid int? = NULL, language int? = NULL
			status tinyint? = 0, type tinyint, usertype smallint?, printfmt varchar(255)? = NULL, prec smallint?, scale int?
			iscomputed int?, isoutparam int? = 0, isnullable int?, collation sysname?`,
			listColumns(nil), typeGetters[column](), columnRow, oldColumnRow),
	}
}
