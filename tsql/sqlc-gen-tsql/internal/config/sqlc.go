package config

import (
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// command is how sqlc's configuration names this generator: as the process of a plugin.
const command = "sqlc-gen-tsql"

// ReadFile reads a configuration file, whichever of two it is: the generator's own, or that of sqlc, of which it takes
// the one entry that runs the generator as a plugin. So what sqlc generates can be linted and compared with a server
// without a second file that says the same.
func ReadFile(file *diag.File) (Config, diag.List) {
	r := reader{file: file}
	root := r.parse()
	// sqlc demands a version, and the generator's own configuration has none.
	if root == nil || value(root, "version") == nil {
		return Read(file)
	}
	c := Default()
	if entry := r.entry(root); entry != nil {
		r.codegen(entry, &c)
		if len(r.findings) == 0 {
			c.check(file, &r.findings)
		}
	}
	r.findings.Sort()
	return c, r.findings
}

// entry returns the entry of sqlc's configuration that runs the generator. It is nil, with a finding, unless there is
// exactly one: which of two is meant, no command line says.
func (r *reader) entry(root *yaml.Node) *yaml.Node {
	plugins := map[string]bool{}
	for _, plugin := range items(value(root, "plugins")) {
		// The command may be a path, and on Windows it has an ending.
		cmd := strings.ReplaceAll(scalarOf(value(value(plugin, "process"), "cmd")), `\`, "/")
		if strings.TrimSuffix(path.Base(cmd), ".exe") == command {
			plugins[scalarOf(value(plugin, "name"))] = true
		}
	}
	if len(plugins) == 0 {
		r.findings.Add(r.file, diag.Span{}, rule, "plugins: [{name: tsql, process: {cmd: "+command+", format: json}}]",
			"no plugin of %s runs %s", r.file.Name, command)
		return nil
	}
	var entries []*yaml.Node
	for _, sql := range items(value(root, "sql")) {
		for _, codegen := range items(value(sql, "codegen")) {
			if plugins[scalarOf(value(codegen, "plugin"))] {
				entries = append(entries, codegen)
			}
		}
	}
	switch len(entries) {
	case 0:
		r.findings.Add(r.file, diag.Span{}, rule, "add the plugin below codegen of an entry of sql",
			"no codegen of %s uses the plugin that runs %s", r.file.Name, command)
		return nil
	case 1:
		return entries[0]
	default:
		lines := make([]string, len(entries))
		for i, e := range entries {
			lines[i] = strconv.Itoa(e.Line)
		}
		r.add(entries[1], "give each a "+FileName+" of its own and name that one",
			"several entries run %s, at lines %s, and it takes one", command, strings.Join(lines, ", "))
		return nil
	}
}

// codegen reads an entry: the keys below options, and the folder beside them. The rest of the entry is sqlc's.
func (r *reader) codegen(entry *yaml.Node, c *Config) {
	if options := value(entry, "options"); options != nil {
		r.mapping(options, "", fields, c)
	}
	// Two outs that differ would be a riddle to whoever looks for the files.
	if c.Out != "" {
		r.add(value(value(entry, "options"), "out"), "remove it from options", "a plugin's out is set beside its options, not in them")
	}
	if out := value(entry, "out"); out != nil {
		find(fields, "out").read(r, out, c)
	}
}

// value returns what stands under a key, nil if nothing does or if there are no keys. Whether the rest of its
// configuration makes sense, sqlc says.
func value(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// items returns what a list has, nothing for what is no list.
func items(list *yaml.Node) []*yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}

// scalarOf returns the text of a single value, "" for anything else.
func scalarOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}
