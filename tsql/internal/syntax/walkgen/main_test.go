package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWalkerIsUpToDate tells whoever changes a node type and runs only the tests.
func TestWalkerIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../children.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, have) {
		t.Error("children.go is not what the node types ask for: run make generate")
	}
}

// TestFields has each form of a field that holds nodes, and those that hold none.
func TestFields(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	types := "package syntax\n" +
		"type Expr interface { Node; expr() }\n" +
		"type Script struct { File *diag.File }\n" +
		"type Leaf struct { diag.Span; Name string }\n" +
		"type Plain struct { Leaf *Leaf }\n" +
		"type All struct { diag.Span; Other; Plain; P Plain; X, Y Expr; One *Leaf; In Leaf; Xs []Expr; Ones []*Leaf; Ins []Leaf; Rows [][]Expr\n" +
		"Lists [][]Leaf; Args []Expr `walk:\"Keys\"`; Keys []Expr `walk:\"-\"`; At diag.Span; Word string; N []int }\n"
	if err := os.WriteFile(filepath.Join(folder, "ast.go"), []byte(types), 0o600); err != nil {
		t.Fatal(err)
	}
	code, err := generate(folder)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(string(code), "switch n := node.(type) {\n")
	const want = `	case *All:
		walkOne(v, n.X)
		walkOne(v, n.Y)
		walkOne(v, n.One)
		v(&n.In)
		walkList(v, n.Xs)
		walkList(v, n.Ones)
		walkEach(v, n.Ins)
		for _, list := range n.Rows {
			walkList(v, list)
		}
		for _, list := range n.Lists {
			walkEach(v, list)
		}
		walkPairs(v, n.Keys, n.Args)
	}
}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
