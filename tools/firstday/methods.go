package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// checkMethods calls each method of the store that takes a context, with arguments made from their types. Most of what
// they do was done by work; what remains reads, counts and deletes.
func checkMethods(ctx context.Context, at *site) result {
	store, err := mssql.Open(ctx, at.url, mssql.Options{MaxRetries: mssql.None})
	if err != nil {
		return fails("%v", err)
	}
	defer func() { _ = store.Close() }() // nothing is written that could be lost
	var rows [][]string
	var called, bad int
	for method := range reflect.TypeOf(store).Methods() {
		if method.Type.NumIn() < 2 || method.Type.In(1) != reflect.TypeFor[context.Context]() {
			continue // it does not ask the server
		}
		called++
		if text := engineErrorOf(at.callMethod(ctx, store, method)); text != "" {
			bad++
			rows = append(rows, []string{"`" + method.Name + "`", text})
		}
	}
	if bad > 0 {
		return fails("%d of %s met an error of the engine.", bad, counted(called, "method")).with(table([]string{"Method", "Error"}, rows)...)
	}
	return holds("%s were answered, or refused by the store.", counted(called, "method"))
}

// engineErrorOf is engineError for an error of the store, which need not come from the server.
func engineErrorOf(err error) string {
	if len(numbersOf(err)) == 0 {
		return ""
	}
	return engineError(err)
}

// callMethod calls a method, in a transaction that is rolled back if it wants one.
func (at *site) callMethod(ctx context.Context, store *mssql.Store, method reflect.Method) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	arguments := []reflect.Value{reflect.ValueOf(store), reflect.ValueOf(ctx)}
	var transactions []*sql.Tx
	defer func() {
		for _, tx := range transactions {
			_ = tx.Rollback() // the call may have ended it
		}
	}()
	for i := 2; i < method.Type.NumIn(); i++ {
		argument, err := at.argument(ctx, method.Type.In(i))
		if err != nil {
			return fmt.Errorf("%s: %w", method.Name, err)
		}
		if tx, ok := reflect.TypeAssert[*sql.Tx](argument); ok {
			transactions = append(transactions, tx)
		}
		arguments = append(arguments, argument)
	}
	call := method.Func.Call
	if method.Type.IsVariadic() {
		call = method.Func.CallSlice
	}
	for _, answer := range call(arguments) {
		if failed, ok := reflect.TypeAssert[error](answer); ok {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// argument makes an argument of a type.
func (at *site) argument(ctx context.Context, kind reflect.Type) (reflect.Value, error) {
	switch kind {
	case reflect.TypeFor[*sql.Tx]():
		tx, err := at.db.BeginTx(ctx, nil)
		return reflect.ValueOf(tx), err
	case reflect.TypeFor[provider.WorkItem]():
		return reflect.ValueOf(provider.QueueMessageItem{Instance: subject, Name: "queue", Data: "1"}), nil
	}
	value := reflect.New(kind).Elem()
	fill(value, 0)
	return value, nil
}

// deepest is how deep fill goes into structs and pointers.
const deepest = 4

// fill sets whatever a type can hold: the subject for a text, one for a number, a millisecond for a duration, one
// element for a list. Interfaces and functions stay nil.
func fill(v reflect.Value, depth int) {
	if depth > deepest || !v.CanSet() {
		return
	}
	switch v.Kind() { //nolint:exhaustive // what is not a case stays zero
	case reflect.String:
		v.SetString(subject)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(int64(time.Millisecond)) // which some calls wait for
		} else {
			v.SetInt(1)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Pointer:
		if depth == 0 {
			return // an option that is left out
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	}
}
