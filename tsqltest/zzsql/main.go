// Command zzsql is scratch.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"strings"

	_ "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsqltest"
)

func main() {
	text, _ := io.ReadAll(os.Stdin)
	dsn := ""
	if len(os.Args) > 1 {
		dsn = os.Args[1]
	} else {
		s, err := tsqltest.Start(tsqltest.Options{})
		if err != nil {
			panic(err)
		}
		defer s.Close()
		dsn = s.DSN()
	}
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		panic(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		panic(err)
	}
	for _, batch := range strings.Split(string(text), "\nGO\n") {
		rows, err := conn.QueryContext(context.Background(), batch)
		if err != nil {
			fmt.Printf("error: %v %#v\n", err, err)
			continue
		}
		for {
			types, _ := rows.ColumnTypes()
			for _, t := range types {
				n, ok := t.Nullable()
				l, _ := t.Length()
				p, s, _ := t.DecimalSize()
				fmt.Printf("[%s %s %d %d,%d null=%v/%v] ", t.Name(), t.DatabaseTypeName(), l, p, s, n, ok)
			}
			fmt.Println()
			for rows.Next() {
				v := make([]any, len(types))
				q := make([]any, len(types))
				for i := range v {
					q[i] = &v[i]
				}
				if err := rows.Scan(q...); err != nil {
					fmt.Println("scan:", err)
				}
				for _, x := range v {
					if b, ok := x.([]byte); ok {
						x = string(b)
					}
					fmt.Printf("%v | ", x)
				}
				fmt.Println()
			}
			if !rows.NextResultSet() {
				break
			}
		}
		if err := rows.Err(); err != nil {
			fmt.Printf("error: %v %#v\n", err, err)
		}
		rows.Close()
	}
}
