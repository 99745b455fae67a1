package samples

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/duroxide/duroxide-go/orchestration"
)

// The same question goes to several mirrors in an order that a seed decides, and the first answer wins. After the pick
// first and the branch samples of Temporal.

type question struct {
	Text    string
	Mirrors []string
	Seed    uint64
}

var ask = act[string, string]("Ask")

var Fastest = orchestration.New("Fastest", func(ctx *orchestration.Context, q question) (string, error) {
	mirrors := slices.Clone(q.Mirrors)
	rand.New(rand.NewPCG(q.Seed, 1)).Shuffle(len(mirrors), func(i, j int) { mirrors[i], mirrors[j] = mirrors[j], mirrors[i] })
	var answers []orchestration.Awaitable
	var typed []*orchestration.Future[string]
	for _, mirror := range mirrors {
		f := orchestration.Activity(ctx, ask, mirror+"/"+q.Text, orchestration.WithTag(mirror))
		answers, typed = append(answers, f), append(typed, f)
	}
	if len(answers) == 0 {
		return "", errors.New("no mirrors")
	}
	return typed[orchestration.SelectAndDrop(answers...)].Await()
})
