package worker

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/provider"
)

// keyed is a store of which only keys are known, "instance/key".
type keyed struct {
	provider.Store
	values map[string]string
}

var errNoStore = errors.New("no such store")

func (k keyed) GetKVValue(_ context.Context, instance, key string) (*string, error) {
	if instance == "bad" {
		return nil, errNoStore
	}
	value, ok := k.values[instance+"/"+key]
	if !ok {
		return nil, nil
	}
	return &value, nil
}
