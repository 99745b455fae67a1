package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
)

// TestEveryIndexIsRestored drops, disables and changes every nonclustered index of this release: verify names it and
// says what to do, up makes it as it was, and the settings of its storage are back. In part, all are dropped, and
// constraints disabled and changed, too.
func TestEveryIndexIsRestored(t *testing.T) {
	t.Parallel()
	m := newMigration(t, thisRelease(t))
	up(t, m)
	clean(t, m)
	settings := indexSettings(t, m)
	for of, table := range inOrder(m.release.made(applied(m.release))) {
		for _, ix := range inOrder(table.indexes) {
			if ix.clustered {
				continue
			}
			remove := fmt.Sprintf(dropIndex, ix.name, of)
			if ix.constraint != "" {
				remove = fmt.Sprintf(dropConstraint, of, ix.name)
			}
			other := fmt.Sprintf("CREATE INDEX %s ON duroxide.%s (%s);", ix.name, of, table.columns[len(table.columns)-1].name)
			for damage, want := range map[string]ProblemKind{
				remove: ProblemMissingIndex,
				fmt.Sprintf("ALTER INDEX %s ON duroxide.%s DISABLE;", ix.name, of): ProblemDisabledIndex,
				remove + other: ProblemChangedIndex,
			} {
				if racing.Part() && want != ProblemMissingIndex && ix.constraint == "" {
					continue
				}
				if want == ProblemChangedIndex && strings.Contains(table.columns[len(table.columns)-1].kind, "max") {
					other = fmt.Sprintf("CREATE INDEX %s ON duroxide.%s (%s);", ix.name, of, table.columns[1].name)
					damage = remove + other
				}
				run(t, m, damage)
				problems, err := m.Verify(t.Context())
				must(t, err)
				at := slices.IndexFunc(problems, func(p Problem) bool { return p.Kind == want && p.Object == ix.name })
				if at < 0 || !strings.Contains(problems[at].Detail, "`duroxide migrate up`") {
					t.Errorf("after %s verify says %v, want %s", damage, problems, want)
				}
				if steps := up(t, m); !slices.Equal(steps, []string{"index " + ix.name}) {
					t.Errorf("after %s up did %q", damage, steps)
				}
				clean(t, m)
			}
		}
	}
	if diff := cmp.Diff(settings, indexSettings(t, m)); diff != "" {
		t.Error(diff)
	}
}

// applied says that all scripts were applied.
func applied(s *release) map[int]recordedScript {
	all := map[int]recordedScript{}
	for _, one := range s.numbered {
		all[one.version] = recordedScript{}
	}
	return all
}

// indexSettings are how the indexes of the schema are stored.
func indexSettings(t *testing.T, m *Migration) []string {
	t.Helper()
	return recordsOf(t, m, `SELECT CONCAT(i.name, ' ', i.allow_page_locks, ' ', i.optimize_for_sequential_key, ' ', s.no_recompute), CAST(NULL AS VARBINARY(32)), CAST(0 AS BIGINT)
FROM sys.indexes AS i
INNER JOIN sys.tables AS t ON t.object_id = i.object_id
LEFT JOIN sys.stats AS s ON s.object_id = i.object_id AND s.stats_id = i.index_id
WHERE t.schema_id = SCHEMA_ID(N'duroxide') AND i.name IS NOT NULL
ORDER BY i.name;`)
}

// TestTablesAreCompared names what somebody has done to tables, and leaves it to him.
func TestTablesAreCompared(t *testing.T) {
	t.Parallel()
	for damage, want := range map[string]string{
		"ALTER TABLE duroxide.things ADD colour INT NULL;":                                             "changed_table: things: column colour is not ours; no script of this release does that, so undo it by hand",
		"ALTER TABLE duroxide.things ALTER COLUMN tag NVARCHAR(9) NOT NULL;":                           "changed_table: things: a column is tag nvarchar(9) NOT NULL and should be tag nvarchar(10) NOT NULL; no script of this release does that, so undo it by hand",
		"ALTER TABLE duroxide.things ADD CONSTRAINT df DEFAULT N'' FOR tag;":                           "changed_table: things: a column is tag nvarchar(10) NOT NULL DEFAULT and should be tag nvarchar(10) NOT NULL; no script of this release does that, so undo it by hand",
		"DROP INDEX ix_things_tag ON duroxide.things; ALTER TABLE duroxide.things DROP COLUMN tag;":    "changed_table: things: column tag is missing; restore it from a backup",
		"DROP VIEW duroxide.red_things; DROP FUNCTION duroxide.things_of; DROP TABLE duroxide.things;": "missing_table: things: it is missing on the server; restore it, with its rows, from a backup",
		"CREATE INDEX mine ON duroxide.things (tag, id);":                                              "extra_index: mine: is an index of things that is not ours; it stays",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			m := newMigration(t, releaseOne.load(t))
			up(t, m)
			if strings.Contains(damage, "ALTER COLUMN") {
				run(t, m, "DROP INDEX ix_things_tag ON duroxide.things;")
			}
			run(t, m, damage)
			problems, err := m.Verify(t.Context())
			must(t, err)
			if !slices.ContainsFunc(problems, func(p Problem) bool { return p.String() == want }) {
				t.Errorf("verify says\n%v, want\n%s", problems, want)
			}
		})
	}
}

// TestChanges has what numbered scripts may do to tables, and what they may not because nobody could compare it.
func TestChanges(t *testing.T) {
	t.Parallel()
	const things = "CREATE TABLE duroxide.things (id BIGINT NOT NULL IDENTITY (1, 1), a NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NULL, b INT NOT NULL CONSTRAINT df DEFAULT ((0)), " +
		"CONSTRAINT pk PRIMARY KEY (id), CONSTRAINT ck CHECK (b IN (0, 1)), CONSTRAINT uq UNIQUE NONCLUSTERED (b, id DESC));\n"
	for script, want := range map[string]string{
		things: "id bigint IDENTITY NOT NULL; a nvarchar(max) COLLATE Latin1_General_BIN2; b int NOT NULL DEFAULT; pk PRIMARY KEY CLUSTERED (id); uq UNIQUE (b, id DESC)",
		things + "ALTER TABLE duroxide.things DROP COLUMN a; ALTER TABLE duroxide.things ALTER COLUMN b BIGINT NOT NULL; ALTER TABLE duroxide.things DROP CONSTRAINT uq;\nGO\n" +
			"CREATE UNIQUE INDEX ix ON duroxide.things (b) INCLUDE (id) WHERE (b > 3 AND [b] IS NOT NULL) WITH (FILLFACTOR = 90)": "id bigint IDENTITY NOT NULL; b bigint NOT NULL DEFAULT; ix UNIQUE (b) INCLUDE (id) WHERE b > 3 AND b IS NOT NULL; pk PRIMARY KEY CLUSTERED (id)",
		things + "DROP TABLE duroxide.things":                                      "",
		"ALTER TABLE duroxide.things SET (LOCK_ESCALATION = DISABLE)":              "",
		"CREATE TABLE duroxide.things (id INT PRIMARY KEY)":                        "file:1: this cannot be compared with a schema; write a column of a type, with COLLATE, NULL, IDENTITY and DEFAULT",
		"\nALTER TABLE duroxide.things SWITCH TO duroxide.others":                  "file:2: this cannot be compared with a schema; write ADD, ALTER COLUMN, DROP COLUMN, DROP CONSTRAINT or SET",
		"ALTER TABLE duroxide.things DROP COLUMN a, b":                             "file:1: this cannot be compared with a schema; write one DROP COLUMN in a statement",
		"CREATE INDEX ix ON things (a)":                                            "file:1: this cannot be compared with a schema; write CREATE INDEX name ON table (columns)",
		"CREATE TABLE duroxide.things (id INT NOT NULL CONSTRAINT pk PRIMARY KEY)": "file:1: this cannot be compared with a schema; write this constraint behind the columns",
	} {
		list, err := changes("file", tokens(script))
		var got string
		if err != nil {
			got = err.Error()
		} else {
			all := tables{}
			for _, one := range list {
				one(all)
			}
			got = described(all["things"])
		}
		if got != want {
			t.Errorf("%s\nis %s\nwant %s", script, got, want)
		}
	}
}

func described(t *table) string {
	var parts []string
	if t != nil {
		for _, c := range t.columns {
			parts = append(parts, c.String())
		}
		for name := range inOrder(maps.Clone(t.indexes)) {
			parts = append(parts, name+" "+t.indexes[name].String())
		}
	}
	return strings.Join(parts, "; ")
}

// TestHelpersAreAppliedFirst: between two steps of an upgrade a caller of the new release never meets a helper of the
// old one, which has no such parameter.
func TestHelpersAreAppliedFirst(t *testing.T) {
	t.Parallel()
	files := releaseOne.with(tree{
		"procedures/a_caller.sql": "CREATE OR ALTER PROCEDURE duroxide.a_caller AS\nDECLARE @n INT;\nEXEC @n = duroxide.m_middle;\nEXECUTE [duroxide].z_helper;\n",
		"procedures/m_middle.sql": "CREATE OR ALTER PROCEDURE duroxide.m_middle AS EXEC duroxide.z_helper;\n",
		"procedures/z_helper.sql": "CREATE OR ALTER PROCEDURE duroxide.z_helper AS SELECT 1 AS a;\n",
	})
	var order []string
	for _, one := range files.load(t).modules {
		if one.kind == kindProcedure {
			order = append(order, one.name)
		}
	}
	if diff := cmp.Diff([]string{"z_helper", "m_middle", "a_caller", "add_thing", "count_red_things"}, order); diff != "" {
		t.Error(diff)
	}
	applied := map[string]bool{}
	for _, one := range thisRelease(t).modules {
		for _, name := range one.calls() {
			if !applied[name] {
				t.Errorf("%s is applied before %s, which it calls", one.name, name)
			}
		}
		applied[one.name] = true
	}
	_, err := loadRelease(files.with(tree{"procedures/z_helper.sql": "CREATE OR ALTER PROCEDURE duroxide.z_helper AS EXEC duroxide.a_caller;\n"}).fs())
	if err == nil || !strings.Contains(err.Error(), "calls itself") {
		t.Errorf("a circle of calls became %v", err)
	}
}
