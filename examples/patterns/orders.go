package patterns

import (
	"context"
	"database/sql"
	"errors"
	"net/http"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// Ship sends an order on its way.
var Ship = activity.New("Ship", func(_ context.Context, order string) (string, error) { return order + " shipped", nil })

// Order is what happens to an order.
var Order = orchestration.New("Order", func(ctx *orchestration.Context, order string) (string, error) {
	return orchestration.Activity(ctx, Ship, order, orchestration.WithRetry(retry.Policy{})).Await()
})

// Shop takes orders by HTTP. Its table is in the database of the store.
type Shop struct {
	DB     *sql.DB
	Client *client.Client
}

// ServeHTTP stores an order and starts its orchestration in one transaction: there is neither
// an order that nobody works on, nor work for an order that was not stored.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch err := s.take(r.Context(), r.FormValue("id")); {
	case errors.Is(err, client.ErrAlreadyExists):
		http.Error(w, "there is such an order", http.StatusConflict)
	case err != nil:
		http.Error(w, "the order was not taken, try again", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *Shop) take(ctx context.Context, id string) error {
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	if _, err := client.Start(ctx, s.Client, Order, id, id, client.InTx(tx)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES (?)", id); err != nil {
		return err
	}
	return tx.Commit()
}
