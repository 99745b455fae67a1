package syntax

// A visitor receives the direct children of a node.
type visitor func(Node)

// children calls v for each direct child of a node. The types are told apart by family, to keep each switch readable.
// The order within each case is that of the text, which Walk promises.
func children(node Node, v visitor) {
	switch n := node.(type) {
	case Expr:
		exprChildren(n, v)
	case QueryBody:
		bodyChildren(n, v)
	case TableSource:
		sourceChildren(n, v)
	case Stmt:
		stmtChildren(n, v)
	default:
		if !queryPartChildren(n, v) {
			definitionPartChildren(n, v)
		}
	}
}

// walkOne visits a pointer that may be nil, walkEach the elements of a list of values, walkList those of a list of
// nodes.
func walkOne[T any, P interface {
	*T
	Node
}](v visitor, p P) {
	if p != nil {
		v(p)
	}
}

func walkEach[T any, P interface {
	*T
	Node
}](v visitor, parts []T) {
	for i := range parts {
		v(P(&parts[i]))
	}
}

func walkList[N Node](v visitor, nodes []N) {
	for _, n := range nodes {
		v(n)
	}
}

// walkRows visits the rows of VALUES.
func walkRows(v visitor, rows [][]Expr) {
	for _, row := range rows {
		walkList(v, row)
	}
}

// walkExprs visits expressions of which any may be missing; the next three visit one node that may be.
func walkExprs(v visitor, xs ...Expr) {
	for _, x := range xs {
		if x != nil {
			v(x)
		}
	}
}

func walkStmt(v visitor, s Stmt) {
	if s != nil {
		v(s)
	}
}

func walkSource(v visitor, s TableSource) {
	if s != nil {
		v(s)
	}
}

func walkBody(v visitor, b QueryBody) {
	if b != nil {
		v(b)
	}
}

// exprChildren is children for values; conditions follow in conditionChildren.
// A field that may be nil goes through one of the walk functions, which leave it out.
func exprChildren(x Expr, v visitor) {
	switch x := x.(type) {
	case *Literal, *Variable, *SystemVariable:
	case *ColumnRef:
		walkEach(v, x.Parts)
	case *Star:
		walkEach(v, x.Qualifier)
	case *Call:
		walkOne(v, x.Name)
		for i, arg := range x.Args {
			if i < len(x.Keys) {
				v(x.Keys[i])
			}
			v(arg)
		}
		walkEach(v, x.WithinGroup)
		walkOne(v, x.Over)
	case *Cast:
		walkExprs(v, x.X)
		walkOne(v, x.Type)
		walkExprs(v, x.Style)
	case *Method:
		walkExprs(v, x.X)
		walkOne(v, x.Type)
		v(&x.Name)
		walkExprs(v, x.Args...)
	case *Unary:
		walkExprs(v, x.X)
	case *Binary:
		walkExprs(v, x.X, x.Y)
	case *Paren:
		walkExprs(v, x.X)
	case *Case:
		walkExprs(v, x.Input)
		walkEach(v, x.Whens)
		walkExprs(v, x.Else)
	case *Subquery:
		walkOne(v, x.Query)
	case *NextValue:
		walkOne(v, x.Sequence)
		walkOne(v, x.Over)
	case *AtTimeZone:
		walkExprs(v, x.X, x.Zone)
	case *Collate:
		walkExprs(v, x.X)
		v(&x.Name)
	default:
		conditionChildren(x, v)
	}
}

// conditionChildren is children for conditions. The query of IN, EXISTS and ANY is below them, its scope and all.
func conditionChildren(x Expr, v visitor) {
	switch x := x.(type) {
	case *Compare:
		walkExprs(v, x.X, x.Y)
	case *Quantified:
		walkExprs(v, x.X)
		walkOne(v, x.Query)
	case *Logical:
		walkExprs(v, x.X, x.Y)
	case *Not:
		walkExprs(v, x.X)
	case *Between:
		walkExprs(v, x.X, x.Low, x.High)
	case *In:
		walkExprs(v, x.X)
		walkList(v, x.List)
		walkOne(v, x.Query)
	case *Like:
		walkExprs(v, x.X, x.Pattern, x.Escape)
	case *IsNull:
		walkExprs(v, x.X)
	case *Exists:
		walkOne(v, x.Query)
	case *UpdateTest:
		v(&x.Column)
	}
}

// bodyChildren is children for query bodies. Of a SELECT they come as written, though FROM is evaluated first: a caller
// that needs the tables before the columns looks at From itself.
func bodyChildren(b QueryBody, v visitor) {
	switch b := b.(type) {
	case *Select:
		walkOne(v, b.Top)
		walkEach(v, b.Items)
		walkOne(v, b.Into)
		walkList(v, b.From)
		walkExprs(v, b.Where)
		walkOne(v, b.GroupBy)
		walkExprs(v, b.Having)
		walkEach(v, b.Windows)
	case *SetOperation:
		walkBody(v, b.X)
		walkBody(v, b.Y)
	case *ParenQuery:
		walkOne(v, b.Query)
	}
}

// sourceChildren is children for what FROM reads. The name of a VariableTable is a text and not visited as a Variable.
func sourceChildren(s TableSource, v visitor) {
	switch s := s.(type) {
	case *TableRef:
		walkOne(v, s.Name)
		walkExprs(v, s.Bounds...)
		walkOne(v, s.Alias)
		walkEach(v, s.Hints)
	case *VariableTable:
		walkOne(v, s.Alias)
		walkEach(v, s.Hints)
	case *DerivedTable:
		walkOne(v, s.Query)
		walkOne(v, s.Alias)
		walkEach(v, s.Columns)
	case *ValuesTable:
		walkRows(v, s.Rows)
		walkOne(v, s.Alias)
		walkEach(v, s.Columns)
	case *FunctionTable:
		walkOne(v, s.Call)
		walkEach(v, s.With)
		walkOne(v, s.Alias)
		walkEach(v, s.Columns)
	case *NodesTable:
		walkOne(v, s.Call)
		walkOne(v, s.Alias)
		walkEach(v, s.Columns)
	case *Join:
		walkSource(v, s.X)
		walkSource(v, s.Y)
		walkExprs(v, s.On)
	case *ParenSource:
		walkSource(v, s.X)
	case *Pivot:
		walkSource(v, s.X)
		walkOne(v, s.Aggregate)
		walkOne(v, s.Value)
		v(&s.For)
		walkEach(v, s.In)
		walkOne(v, s.Alias)
	}
}

// stmtChildren is children for statements, which are split into data, control and definitions.
func stmtChildren(s Stmt, v visitor) {
	switch s := s.(type) {
	case *SelectStmt:
		walkOne(v, s.Query)
	case *Insert:
		walkList(v, s.With)
		walkOne(v, s.Top)
		walkSource(v, s.Target)
		walkEach(v, s.Columns)
		walkOne(v, s.Output)
		walkRows(v, s.Rows)
		walkOne(v, s.Query)
		walkOne(v, s.Exec)
		walkEach(v, s.Options)
	case *Update:
		walkList(v, s.With)
		walkOne(v, s.Top)
		walkSource(v, s.Target)
		walkEach(v, s.Set)
		walkOne(v, s.Output)
		walkList(v, s.From)
		walkExprs(v, s.Where)
		walkEach(v, s.Options)
	case *Delete:
		walkList(v, s.With)
		walkOne(v, s.Top)
		walkSource(v, s.Target)
		walkOne(v, s.Output)
		walkList(v, s.From)
		walkExprs(v, s.Where)
		walkEach(v, s.Options)
	case *Merge:
		walkList(v, s.With)
		walkOne(v, s.Top)
		walkSource(v, s.Target)
		walkSource(v, s.Source)
		walkExprs(v, s.On)
		walkEach(v, s.Actions)
		walkOne(v, s.Output)
		walkEach(v, s.Options)
	case *Truncate:
		walkOne(v, s.Table)
	default:
		controlChildren(s, v)
	}
}

// controlChildren is children for control of flow and variables.
func controlChildren(s Stmt, v visitor) {
	switch s := s.(type) {
	case *Declare:
		walkEach(v, s.Vars)
	case *SetVariable:
		walkOne(v, s.Variable)
		walkExprs(v, s.X)
	case *SetOption:
		walkExprs(v, s.X)
	case *If:
		walkExprs(v, s.Cond)
		walkStmt(v, s.Then)
		walkStmt(v, s.Else)
	case *While:
		walkExprs(v, s.Cond)
		walkStmt(v, s.Body)
	case *Block:
		walkEach(v, s.Atomic)
		walkList(v, s.Stmts)
	case *TryCatch:
		walkList(v, s.Try)
		walkList(v, s.Catch)
	case *Return:
		walkExprs(v, s.X)
		walkOne(v, s.Query)
	case *Goto:
		v(&s.Label)
	case *Label:
		v(&s.Label)
	case *Throw:
		walkExprs(v, s.Number, s.Message, s.State)
	case *Raiserror:
		walkList(v, s.Args)
		walkEach(v, s.Options)
	case *Print:
		walkExprs(v, s.X)
	case *Waitfor:
		walkExprs(v, s.X)
	case *Exec:
		walkOne(v, s.Status)
		walkOne(v, s.Name)
		walkOne(v, s.ProcVar)
		walkList(v, s.SQL)
		walkEach(v, s.Args)
		walkOne(v, s.ResultSets)
		walkEach(v, s.Options)
	case *CursorStmt:
		walkOne(v, s.Definition)
		walkExprs(v, s.Offset)
		walkList(v, s.Into)
	case *Use:
		v(&s.Database)
	case *Other:
		if s.Detail != nil {
			v(s.Detail)
		}
	default:
		definitionChildren(s, v)
	}
}

// definitionChildren is children for what isn't a module.
func definitionChildren(s Stmt, v visitor) {
	switch s := s.(type) {
	case *CreateTable:
		walkOne(v, s.Name)
		walkOne(v, s.Def)
		walkEach(v, s.Options)
		walkOne(v, s.History)
	case *AlterTable:
		walkOne(v, s.Name)
		walkOne(v, s.Add)
		walkOne(v, s.Column)
		walkEach(v, s.Names)
		walkEach(v, s.Options)
		walkOne(v, s.History)
	case *CreateIndex:
		v(&s.Name)
		walkOne(v, s.Table)
		walkEach(v, s.Columns)
		walkEach(v, s.Include)
		walkExprs(v, s.Where)
		walkEach(v, s.Options)
	case *CreateType:
		walkOne(v, s.Name)
		walkOne(v, s.From)
		walkOne(v, s.Table)
		walkEach(v, s.Options)
	case *CreateSequence:
		walkOne(v, s.Name)
		walkOne(v, s.Type)
	case *CreateSynonym:
		walkOne(v, s.Name)
		walkOne(v, s.For)
	case *CreateSchema:
		v(&s.Name)
		walkOne(v, s.Owner)
	case *CreatePrincipal:
		v(&s.Name)
		walkOne(v, s.Detail)
	case *Permission:
		for _, columns := range s.Columns {
			walkEach(v, columns)
		}
		walkOne(v, s.On)
		walkEach(v, s.To)
		walkOne(v, s.As)
	case *Drop:
		walkList(v, s.Names)
		walkOne(v, s.On)
	default:
		moduleChildren(s, v)
	}
}

// moduleChildren is children for the definitions that have queries or statements in them.
func moduleChildren(s Stmt, v visitor) {
	switch s := s.(type) {
	case *CreateView:
		walkOne(v, s.Name)
		walkEach(v, s.Columns)
		walkEach(v, s.Options)
		walkOne(v, s.Query)
	case *CreateFunction:
		walkOne(v, s.Name)
		walkList(v, s.Params)
		walkOne(v, s.Returns)
		walkOne(v, s.Table)
		walkEach(v, s.Options)
		walkOne(v, s.Inline)
		walkList(v, s.Body)
	case *CreateProcedure:
		walkOne(v, s.Name)
		walkList(v, s.Params)
		walkEach(v, s.Options)
		walkList(v, s.Body)
	case *CreateTrigger:
		walkOne(v, s.Name)
		walkOne(v, s.Table)
		walkEach(v, s.Options)
		walkList(v, s.Body)
	}
}

// queryPartChildren is children for the parts of scripts, queries and statements. It reports whether it knew the type.
func queryPartChildren(node Node, v visitor) bool {
	switch n := node.(type) {
	case *Script:
		walkList(v, n.Batches)
	case *Batch:
		walkList(v, n.Stmts)
	case *ObjectName:
		walkEach(v, n.Parts)
	case *Query:
		walkList(v, n.With)
		walkBody(v, n.Body)
		walkEach(v, n.OrderBy)
		walkExprs(v, n.Offset, n.Fetch)
		walkOne(v, n.For)
		walkEach(v, n.Options)
	case *CTE:
		v(&n.Name)
		walkEach(v, n.Columns)
		walkOne(v, n.Query)
	case *ForClause:
		walkEach(v, n.Options)
	case *SelectItem:
		walkOne(v, n.Variable)
		walkExprs(v, n.X)
		walkOne(v, n.Alias)
	case *NamedWindow:
		v(&n.Name)
		walkOne(v, n.Window)
	case *Window:
		walkList(v, n.PartitionBy)
		walkEach(v, n.OrderBy)
	case *OrderItem:
		walkExprs(v, n.X)
	case *CaseWhen:
		walkExprs(v, n.When, n.Then)
	case *Top:
		walkExprs(v, n.N)
	case *GroupBy:
		walkList(v, n.Items)
	case *Output:
		walkEach(v, n.Items)
		walkSource(v, n.Into)
		walkEach(v, n.IntoColumns)
		walkOne(v, n.Then)
	case *Assignment:
		walkOne(v, n.Variable)
		walkOne(v, n.Column)
		walkExprs(v, n.X)
	case *MergeAction:
		walkExprs(v, n.And)
		walkEach(v, n.Set)
		walkEach(v, n.Columns)
		walkList(v, n.Values)
	default:
		return false
	}
	return true
}

// definitionPartChildren is children for the parts of definitions and calls. An Ident, an Option and a Comment have
// none.
func definitionPartChildren(node Node, v visitor) {
	switch n := node.(type) {
	case *TypeName:
		walkOne(v, n.Name)
		walkEach(v, n.Args)
		walkOne(v, n.Collection)
	case *JSONColumn:
		v(&n.Name)
		walkOne(v, n.Type)
		walkOne(v, n.Path)
	case *ExecArg:
		walkExprs(v, n.X)
	case *CursorDefinition:
		walkOne(v, n.Query)
		walkEach(v, n.Columns)
	case *ResultSets:
		walkEach(v, n.Sets)
	case *ResultSetDef:
		walkEach(v, n.Columns)
		walkOne(v, n.Object)
		walkOne(v, n.Type)
	case *VarDecl:
		walkOne(v, n.Type)
		walkOne(v, n.Table)
		walkExprs(v, n.Init)
	case *Param:
		walkOne(v, n.Type)
		walkExprs(v, n.Default)
	case *TableDef:
		walkEach(v, n.Columns)
		walkEach(v, n.Constraints)
		walkEach(v, n.Indexes)
		walkEach(v, n.Period)
	case *ColumnDef:
		v(&n.Name)
		walkOne(v, n.Type)
		walkExprs(v, n.Computed)
		walkOne(v, n.DefaultName)
		walkExprs(v, n.Default)
		walkEach(v, n.Constraint)
		walkOne(v, n.Index)
	case *Constraint:
		walkOne(v, n.Name)
		walkEach(v, n.Columns)
		walkExprs(v, n.Check, n.Default)
		walkOne(v, n.For)
		walkOne(v, n.References)
		walkEach(v, n.Referenced)
		walkEach(v, n.Options)
	case *IndexDef:
		v(&n.Name)
		walkEach(v, n.Columns)
		walkEach(v, n.Include)
		walkExprs(v, n.Where)
		walkEach(v, n.Options)
	case *IndexColumn:
		v(&n.Name)
	case *PrincipalDetail:
		walkOne(v, n.Name)
		walkEach(v, n.Options)
	default:
		detailChildren(node, v)
	}
}

// detailChildren is children for the details of Other.
func detailChildren(node Node, v visitor) {
	switch n := node.(type) {
	case *SpecialIndex:
		walkOne(v, &n.Name)
		walkOne(v, n.Table)
	case *FullTextIndex:
		walkOne(v, n.Table)
		walkOne(v, &n.Key)
	case *AlterIndex:
		walkOne(v, n.Name)
		walkOne(v, n.Table)
		walkEach(v, n.Options)
	case *AlterSequence:
		walkOne(v, n.Name)
	case *AlterSchema:
		v(&n.Name)
		walkOne(v, n.Object)
	case *AlterAuthorization:
		walkOne(v, n.On)
		walkOne(v, n.To)
	case *CreateDatabase:
		v(&n.Name)
	case *AlterDatabase:
		walkOne(v, n.Name)
		walkOne(v, n.NewName)
		walkEach(v, n.Options)
	case *SwitchTrigger:
		walkList(v, n.Names)
		walkOne(v, n.On)
	case *DBCC:
		walkList(v, n.Args)
		walkEach(v, n.Options)
	case *AlterServerRole:
		v(&n.Name)
		walkOne(v, n.Member)
	case *UpdateStatistics:
		walkOne(v, n.Table)
		walkEach(v, n.Names)
	case *ExecuteAs:
		walkExprs(v, n.User)
		walkOne(v, n.Cookie)
	case *Revert:
		walkOne(v, n.Cookie)
	}
}
