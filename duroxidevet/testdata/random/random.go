// Package random has orchestrations that draw something.
package random

import (
	crand "crypto/rand"
	"hash/maphash"
	"math/rand"
	randv2 "math/rand/v2"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/orchestration"
)

var Bad = orchestration.New("Bad", func(ctx *orchestration.Context, key []byte) (string, error) {
	_ = rand.Intn(6)                   // want `rand.Intn is random, and a replay draws something else; use ctx.NewGUID\(\), or draw it in an activity`
	rand.Shuffle(2, func(i, j int) {}) // want `rand.Shuffle is random`
	_ = randv2.N(6)                    // want `rand.N is random`
	_, _ = crand.Read(key)             // want `rand.Read is random`
	_ = crand.Reader                   // want `rand.Reader is random`
	_ = maphash.MakeSeed()             // want `maphash.MakeSeed is random`
	_ = uuid.New()                     // want `uuid.New is another id each time; use ctx.NewGUID\(\)`
	_ = uuid.Must(uuid.NewV7())        // want `uuid.NewV7 is another id each time`
	return uuid.NewString(), nil       // want `uuid.NewString is another id each time`
})

var Good = orchestration.New("Good", func(ctx *orchestration.Context, seed int64) (string, error) {
	_ = rand.New(rand.NewSource(seed)).Intn(6)
	_ = randv2.New(randv2.NewPCG(1, uint64(seed))).IntN(6)
	_ = uuid.NewSHA1(uuid.NameSpaceURL, []byte("order")).String()
	if _, err := uuid.Parse("6ba7b811-9dad-11d1-80b4-00c04fd430c8"); err != nil {
		return "", err
	}
	return ctx.NewGUID()
})
