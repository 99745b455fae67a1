package server

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// tableSetting is a setting of tables or indexes that the scripts make (0005_storage.sql), and that anybody
// who may alter a table can lose: by a rebuild, for one.
type tableSetting struct {
	check string
	// fine is what to say when all have it.
	fine string
	// list finds those that have it wrong, a finding each.
	list func(p *patient, ctx context.Context) ([]Finding, error)
}

func tableSettings() []tableSetting {
	return []tableSetting{
		{"page locks", "ALLOW_PAGE_LOCKS is OFF for the indexes of the queues", (*patient).pageLocks},
		{"statistics", "STATISTICS_NORECOMPUTE is ON for the indexes of the queues", (*patient).recomputed},
		{"sequential keys", "OPTIMIZE_FOR_SEQUENTIAL_KEY is ON for the indexes that grow at one end", (*patient).unsequenced},
		{"lock escalation", "LOCK_ESCALATION is DISABLE for the tables of which a call locks many rows", (*patient).escalating},
		{"compression", "DATA_COMPRESSION is NONE for the queues", (*patient).compressed},
	}
}

// examine says nothing where there is nothing to see: the check of the modules has said why.
func (s tableSetting) examine(ctx context.Context, p *patient) error {
	if !p.facts.comparable {
		return nil
	}
	findings, err := s.list(p, ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, findings...)
	if len(findings) == 0 {
		p.note(OK, s.fine, "")
	}
	return nil
}

// pageLocks are the findings of migrate.Verify, which compares with what the scripts say of each index.
func (p *patient) pageLocks(context.Context) (list []Finding, err error) {
	for _, problem := range p.facts.problems {
		if problem.Kind == migrate.ProblemPageLocks {
			detail, statement := inTwo(problem.Object + ": " + problem.Detail)
			list = append(list, Finding{Level: Problem, Detail: detail, Statement: statement})
		}
	}
	return list, nil
}

func (p *patient) recomputed(ctx context.Context) (list []Finding, err error) {
	rows, err := p.queries.ListRecomputedQueues(ctx, mssqldb.ListRecomputedQueuesParams{Schema: p.schema})
	for _, row := range rows {
		list = append(list, Finding{
			Level: Warning,
			Detail: isNot(fmt.Sprintf("STATISTICS_NORECOMPUTE of %d indexes of %s", row.Indexes, row.Name), "OFF", "ON",
				"rows of queues change thousands of times a second, so claims are compiled again about once a second"),
			Statement: fmt.Sprintf("ALTER INDEX ALL ON %s SET (STATISTICS_NORECOMPUTE = ON);", p.table(row.Name)),
		})
	}
	return list, err
}

// unsequenced asks no server before 2019, whose catalog does not know the word.
func (p *patient) unsequenced(ctx context.Context) (list []Finding, err error) {
	if !p.facts.azure && olderThan(p.facts.version, 15) {
		return []Finding{{Level: OK, Detail: "SQL Server before 2019 has no OPTIMIZE_FOR_SEQUENTIAL_KEY"}}, nil
	}
	rows, err := p.queries.ListUnsequencedIndexes(ctx, mssqldb.ListUnsequencedIndexesParams{Schema: p.schema})
	for _, row := range rows {
		list = append(list, Finding{
			Level:     Warning,
			Detail:    isNot("OPTIMIZE_FOR_SEQUENTIAL_KEY of "+row.IndexName, "OFF", "ON", "all writers of the queue wait for the last page of this index"),
			Statement: fmt.Sprintf("ALTER INDEX %s ON %s SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON);", quote(row.IndexName), p.table(row.TableName)),
		})
	}
	return list, err
}

func (p *patient) escalating(ctx context.Context) (list []Finding, err error) {
	rows, err := p.queries.ListEscalatingTables(ctx, mssqldb.ListEscalatingTablesParams{Schema: p.schema})
	for _, row := range rows {
		list = append(list, Finding{
			Level: Problem,
			Detail: isNot("LOCK_ESCALATION of "+row.Name, row.Escalation, "DISABLE",
				"a turn with a wide fan-out, a worker with many sessions, or a deletion locks the whole table and stops everybody's work"),
			Statement: fmt.Sprintf("ALTER TABLE %s SET (LOCK_ESCALATION = DISABLE);", p.table(row.Name)),
		})
	}
	return list, err
}

// compressed mends the statistics as well, which a rebuild would turn on again.
func (p *patient) compressed(ctx context.Context) (list []Finding, err error) {
	rows, err := p.queries.ListCompressedQueues(ctx, mssqldb.ListCompressedQueuesParams{Schema: p.schema})
	for _, row := range rows {
		list = append(list, Finding{
			Level: Warning,
			Detail: isNot(fmt.Sprintf("DATA_COMPRESSION of %d indexes of %s", row.Indexes, row.Name), orZero(row.Compression), "NONE",
				"every claim packs and unpacks rows that live for seconds"),
			Advice:    "the statement locks the table while it runs, which takes a moment if little is queued",
			Statement: fmt.Sprintf("ALTER INDEX ALL ON %s REBUILD WITH (DATA_COMPRESSION = NONE, STATISTICS_NORECOMPUTE = ON);", p.table(row.Name)),
		})
	}
	return list, err
}

// table is the name of a table of the schema.
func (p *patient) table(name string) string { return quote(p.schema) + "." + quote(name) }
