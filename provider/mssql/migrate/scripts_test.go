package migrate

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree is a set of scripts by path.
type tree map[string]string

// with returns the tree with other files; an empty text takes one away.
func (files tree) with(changes tree) tree {
	result := maps.Clone(files)
	for name, text := range changes {
		if text == "" {
			delete(result, name)
			continue
		}
		result[name] = text
	}
	return result
}

func (files tree) fs() fstest.MapFS {
	result := fstest.MapFS{}
	for name, text := range files {
		result[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return result
}

func (files tree) load(t testing.TB) *release {
	t.Helper()
	s, err := loadRelease(files.fs())
	must(t, err)
	return s
}

// releaseOne is a small schema with one of everything.
var releaseOne = tree{
	"schema/revision.txt": "revision: 1\noldest: 1\n",
	"schema/0001_things.sql": `-- Things.
CREATE TABLE duroxide.things (
    id  INT NOT NULL,
    tag NVARCHAR(10) NOT NULL,
    CONSTRAINT pk_things PRIMARY KEY CLUSTERED (id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
GO
CREATE INDEX ix_things_tag ON duroxide.things (tag) WITH (ALLOW_PAGE_LOCKS = OFF);
`,
	"schema/0002_storage.sql": `DECLARE @things NVARCHAR(300) = QUOTENAME(N'duroxide') + N'.[things]';
EXEC sys.sp_tableoption @things, 'table lock on bulk load', 1;
`,
	"schema/0003_role.sql":            "GRANT EXECUTE ON SCHEMA::duroxide TO duroxide_runtime;\n",
	"schema/functions/things_of.sql":  "CREATE OR ALTER FUNCTION duroxide.things_of (@tag NVARCHAR(10))\nRETURNS TABLE\nAS\nRETURN (SELECT t.id FROM duroxide.things AS t WHERE t.tag = @tag);\n",
	"schema/views/red_things.sql":     "CREATE OR ALTER VIEW duroxide.red_things AS\nSELECT t.id FROM duroxide.things_of(N'red') AS t;\nGO\nGRANT SELECT ON duroxide.red_things TO duroxide_runtime;\n",
	"procedures/add_thing.sql":        "-- Adds a thing.\nCREATE OR ALTER PROCEDURE duroxide.add_thing\n    @id INT,\n    @tag NVARCHAR(10)\nAS\nSET NOCOUNT ON;\nINSERT INTO duroxide.things (id, tag)\nVALUES (@id, @tag);\n",
	"procedures/count_red_things.sql": "CREATE OR ALTER PROC duroxide.count_red_things\nAS\nSET NOCOUNT ON;\nSELECT COUNT(*) AS things FROM duroxide.red_things;\n",
}

// releaseTwo expands it: a column and a parameter with defaults, and another function.
var releaseTwo = releaseOne.with(tree{
	"schema/revision.txt":            "# Expands.\nrevision: 2\noldest: 1\n",
	"schema/0004_sizes.sql":          "ALTER TABLE duroxide.things ADD size INT NOT NULL CONSTRAINT df_things_size DEFAULT 1;\n",
	"schema/functions/things_of.sql": "CREATE OR ALTER FUNCTION duroxide.things_of (@tag NVARCHAR(10))\nRETURNS TABLE\nAS\nRETURN (SELECT t.id, t.size FROM duroxide.things AS t WHERE t.tag = @tag);\n",
	"procedures/add_thing.sql":       "-- Adds a thing of a size.\nCREATE OR ALTER PROCEDURE duroxide.add_thing\n    @id INT,\n    @tag NVARCHAR(10),\n    @size INT = 7\nAS\nSET NOCOUNT ON;\nINSERT INTO duroxide.things (id, tag, size)\nVALUES (@id, @tag, @size);\n",
})

// releaseThree takes away what programs of release one have used.
var releaseThree = releaseTwo.with(tree{
	"schema/revision.txt":             "revision: 3\noldest: 2\n",
	"schema/0005_tidy.sql":            "-- after: modules\nDROP INDEX ix_things_tag ON duroxide.things;\n",
	"procedures/count_red_things.sql": "",
})

func TestLoad(t *testing.T) {
	t.Parallel()
	s := releaseThree.load(t)
	if s.version() != 5 || s.revision != 3 || s.oldest != 2 {
		t.Errorf("version %d, revision %d, oldest %d; want 5, 3 and 2", s.version(), s.revision, s.oldest)
	}
	var order []string
	for _, one := range s.modules {
		order = append(order, string(one.kind)+" "+one.name)
	}
	if diff := cmp.Diff([]string{"FUNCTION things_of", "VIEW red_things", "PROCEDURE add_thing"}, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"pk_things": true, "ix_things_tag": true}, s.pageLocksOff); diff != "" {
		t.Error(diff)
	}
	if s.numbered[1].afterModules || !s.numbered[4].afterModules {
		t.Error("marks were not read")
	}
}

func TestLoadPresentScripts(t *testing.T) {
	t.Parallel()
	if s := thisRelease(t); s.version() == 0 || len(s.modules) == 0 || len(s.pageLocksOff) == 0 {
		t.Errorf("embedded scripts: version %d, %d modules, %d indexes without page locks", s.version(), len(s.modules), len(s.pageLocksOff))
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change tree
		want   string
	}{
		{"no revision", tree{"schema/revision.txt": ""}, "schema/revision.txt"},
		{"bad revision", tree{"schema/revision.txt": "# about\nrevision: zero\n"}, "schema/revision.txt:2: should be \"revision: N\""},
		{"unknown line", tree{"schema/revision.txt": "revision: 1\noldest: 1\nnewest: 1\n"}, "schema/revision.txt:3: should be"},
		{"revision twice", tree{"schema/revision.txt": "revision: 1\nrevision: 2\n"}, "schema/revision.txt:2: should be"},
		{"no oldest", tree{"schema/revision.txt": "revision: 1\n"}, "schema/revision.txt:1: needs both"},
		{"oldest only", tree{"schema/revision.txt": "oldest: 1\n"}, "schema/revision.txt:1: needs both"},
		{"oldest above", tree{"schema/revision.txt": "revision: 1\noldest: 2\n"}, "schema/revision.txt:2: needs both"},
		{"gap", tree{"schema/0002_storage.sql": ""}, "schema/0003_role.sql:1: should be number 2"},
		{"two of a number", tree{"schema/0002_again.sql": "SELECT 1"}, "schema/0002_storage.sql:1: should be number 3"},
		{"empty script", tree{"schema/0003_role.sql": "-- nothing\n"}, "schema/0003_role.sql:1: there is no statement"},
		{"open literal", tree{"schema/0003_role.sql": "SELECT 1\nSELECT 'a"}, "schema/0003_role.sql:2: the quotation or comment that begins here does not end"},
		{"schema in a literal", tree{"procedures/add_thing.sql": "\nSELECT OBJECT_ID(N'duroxide.t')"}, "procedures/add_thing.sql:2: the literal N'duroxide.t' names the schema"},
		{"unknown mark", tree{"schema/0003_role.sql": "-- after: views\nSELECT 1"}, "schema/0003_role.sql:1: unknown mark"},
		{"table elsewhere", tree{"schema/0003_role.sql": "\n\nCREATE TABLE dbo.t (a INT)"}, "schema/0003_role.sql:3: CREATE TABLE must name duroxide.something"},
		{"table like the schema", tree{"schema/0003_role.sql": "CREATE TABLE duroxide.duroxide (a INT)"}, "must name duroxide.something"},
		{"module among scripts", tree{"schema/0003_role.sql": "CREATE PROCEDURE duroxide.p AS SELECT 1"}, "not PROCEDURE"},
		{"module of another name", tree{"procedures/other.sql": releaseOne["procedures/add_thing.sql"]}, "procedures/other.sql:1: a file in procedures defines one PROCEDURE"},
		{"module of another kind", tree{"procedures/red_things.sql": releaseOne["schema/views/red_things.sql"]}, "procedures/red_things.sql:1: a file in procedures"},
		{"module without definition", tree{"procedures/p.sql": "SELECT 1"}, "there is no CREATE OR ALTER PROCEDURE duroxide.p"},
		{"module defined twice", tree{"procedures/p.sql": "CREATE OR ALTER PROCEDURE duroxide.p AS SELECT 1\nGO\nCREATE OR ALTER PROCEDURE duroxide.p AS SELECT 1"}, "procedures/p.sql:3: a file"},
		{"one name for two modules", tree{"procedures/things_of.sql": "CREATE OR ALTER PROCEDURE duroxide.things_of AS SELECT 1"}, "things_of is already in schema/functions/things_of.sql"},
		{"odd module name", tree{"procedures/P.sql": "SELECT 1"}, "procedures/P.sql:1: the name must be of the form"},
		{"no scripts", tree{"schema/0001_things.sql": "", "schema/0002_storage.sql": "", "schema/0003_role.sql": ""}, "there is no numbered script"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := loadRelease(releaseOne.with(c.change).fs())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestChecksumsIgnoreLineEnds(t *testing.T) {
	t.Parallel()
	windows := tree{}
	for name, text := range releaseOne {
		windows[name] = "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n")
	}
	windows["schema/revision.txt"] = "# about\r\nrevision: 1\r\noldest: 1\r\n"
	here, there := releaseOne.load(t), windows.load(t)
	for i := range here.numbered {
		if !bytes.Equal(here.numbered[i].checksum, there.numbered[i].checksum) {
			t.Errorf("%s has another checksum", here.numbered[i].name)
		}
	}
	for i := range here.modules {
		if !bytes.Equal(here.modules[i].checksum, there.modules[i].checksum) {
			t.Errorf("%s has another checksum", here.modules[i].name)
		}
	}
}
