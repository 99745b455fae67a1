package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// checkSchema applies the schema, and compares it.
func checkSchema(ctx context.Context, at *site) result {
	m := &migrate.Migration{DB: at.db}
	done, err := m.Up(ctx)
	if err != nil {
		return fails("`migrate up` ended with: %v", err)
	}
	if problems, err := m.Verify(ctx); err != nil || len(problems) > 0 {
		return fails("`verify` says %v, %v", problems, err)
	}
	again, err := m.Up(ctx)
	if err != nil || !again.Empty() {
		return fails("a second `migrate up` did %+v, %v", again, err)
	}
	var procedures, tables, indexes int
	err = at.db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM sys.procedures AS p WHERE p.schema_id = SCHEMA_ID(@p1)),
		(SELECT COUNT(*) FROM sys.tables AS t WHERE t.schema_id = SCHEMA_ID(@p1)),
		(SELECT COUNT(*) FROM sys.indexes AS i INNER JOIN sys.tables AS t ON t.object_id = i.object_id WHERE t.schema_id = SCHEMA_ID(@p1) AND i.type > 0)`,
		schema).Scan(&procedures, &tables, &indexes)
	if err != nil {
		return fails("counting: %v", err)
	}
	return holds("%s, %s, %s, by %s.", counted(procedures, "procedure"), counted(tables, "table"), counted(indexes, "index"), counted(len(done.Steps), "step"))
}

// block is a batch of the README.
var block = regexp.MustCompile("(?s)```sql\n(.*?)```")

// blocks are the batches of a section of sql/README.md.
func blocks(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "sql", "README.md"))
	if err != nil {
		return nil, fmt.Errorf("%w: run firstday in the root of the repository, or say where it is by -root", err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Try it\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var list []string
	for _, match := range block.FindAllStringSubmatch(section, -1) {
		list = append(list, match[1])
	}
	if !ok || len(list) == 0 {
		return nil, errors.New("sql/README.md has no blocks in a section Try it")
	}
	return list, nil
}

// checkBlocks runs the batches of the README one after the other.
func checkBlocks(ctx context.Context, at *site) result {
	list, err := blocks(at.root)
	if err != nil {
		return fails("%v", err)
	}
	for i, batch := range list {
		if err := execute(ctx, at.db, batch); err != nil {
			return fails("block %d of %d ended with: %v", i+1, len(list), err).with("```sql", strings.TrimSpace(batch), "```")
		}
	}
	return holds("%s ran.", counted(len(list), "block"))
}
